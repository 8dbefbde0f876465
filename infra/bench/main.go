// Command bench times the propagation on a workspace's graph: the search, the messages and the dense
// layers of a query, forward only or with the backward pass. It prints one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	_ "tagnet/formats/storage/gcs" // --workspace may be a gs:// URL
	"tagnet/infra/internal/program"
	"tagnet/model/engine/device"
)

func main() { os.Exit(program.Run("bench", "interrupted; no result was written", run)) }

// options are the flags.
type options struct {
	workspace          string
	preset, policy     string
	given              map[string]bool // the flags on the command line
	layers, delta, dim int
	queries, perSource int
	threads            int
	train, shareStates bool
	kernel             string
	device             device.Choice
	dependent          bool
	negatives          int
	seed               uint64
	profile            string
}

// result is the line that is printed. Times are milliseconds per query: those of the phases are summed
// over all threads, the total is the time that passes. A device has the total only.
type result struct {
	Queries int `json:"queries"`
	// Messages are those sent per query, without empty ones; Updates the entities updated per query,
	// summed over layers.
	Messages   float64 `json:"messages"`
	Updates    float64 `json:"updates,omitzero"`
	SearchMS   float64 `json:"search_ms,omitzero"`
	MessagesMS float64 `json:"messages_ms,omitzero"`
	DenseMS    float64 `json:"dense_ms,omitzero"`
	TotalMS    float64 `json:"total_ms"`
	Kernel     string  `json:"kernel"`
	Threads    int     `json:"threads,omitzero"`
}

func run(ctx context.Context, arguments []string, out, diagnostics io.Writer) error {
	o, err := parse(arguments, diagnostics)
	if err != nil {
		return err
	}
	b, err := prepare(ctx, o)
	if err != nil {
		return err
	}
	if text := b.selected.String(); text != "" {
		fmt.Fprintln(diagnostics, text)
	}
	r, err := b.profiled(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r.rounded())
}

// rounded returns the result with the digits that mean something: a time has four, a count a tenth.
func (r result) rounded() result {
	for _, ms := range []*float64{&r.SearchMS, &r.MessagesMS, &r.DenseMS, &r.TotalMS} {
		*ms, _ = strconv.ParseFloat(strconv.FormatFloat(*ms, 'g', 4, 64), 64)
	}
	r.Messages, r.Updates = math.Round(10*r.Messages)/10, math.Round(10*r.Updates)/10
	return r
}

func parse(arguments []string, diagnostics io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.StringVar(&o.workspace, "workspace", "workspace", "`folder` or URL of a workspace with a graph, made by preprocess")
	set.StringVar(&o.preset, "preset", "", "`name` of a configuration, as train takes it; flags that are given replace its values")
	set.StringVar(&o.policy, "policy", "", "who sends to whom: window, full, astar or window+astar (default: the preset's, or window)")
	set.IntVar(&o.layers, "layers", 6, "layers of propagation")
	set.IntVar(&o.delta, "delta", 2, "layers for which an entity hears messages after it is reached")
	set.IntVar(&o.dim, "dim", 32, "dimensions of a state")
	set.IntVar(&o.queries, "queries", 64, "queries to propagate")
	set.IntVar(&o.perSource, "per_source", 1, "queries that share a source")
	set.IntVar(&o.threads, "threads", 1, "queries propagated in parallel")
	set.BoolVar(&o.train, "train", false, "time forward pass, loss and backward pass of training queries, their facts' edges removed")
	set.BoolVar(&o.shareStates, "share_states", false, "with --train, compute states that are equal on paper once")
	set.StringVar(&o.kernel, "kernel", "", "`variant` of the kernels: auto, portable, avx2 or avx512 (default: $TAGNET_KERNEL, or auto)")
	set.Var(&o.device, "device", "`where` to compute: cpu, cuda, cuda:n, or auto, a device if there is one (default: cpu)")
	set.BoolVar(&o.dependent, "dependent", false, "let relation embeddings depend on the query")
	set.StringVar(&o.profile, "cpuprofile", "", "write a CPU profile of the timed part to this `file`, for go tool pprof")
	set.IntVar(&o.negatives, "negatives", 0, "negatives of a training query, 0 for the default of 128")
	set.Uint64Var(&o.seed, "seed", 1, "seed of the weights and queries")
	if err := program.Parse(set, "Times the propagation on a workspace's graph: the search, the messages and the dense layers of a query.", arguments, diagnostics); err != nil {
		return o, err
	}
	o.given = map[string]bool{}
	set.Visit(func(f *flag.Flag) { o.given[f.Name] = true })
	switch {
	case o.negatives < 0:
		return o, program.Usage("--negatives is %d, and must be 0 or more", o.negatives)
	case o.queries < 1 || o.perSource < 1 || o.threads < 1:
		return o, program.Usage("--queries, --per_source and --threads must be 1 or more")
	}
	return o, nil
}
