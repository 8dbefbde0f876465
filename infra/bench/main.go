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
	"reflect"
	"runtime/pprof"
	"strconv"

	"tagnet/infra/internal/program"
	"tagnet/model/weights/configuration"
)

func main() { os.Exit(program.Run("bench", "interrupted; no result was written", run)) }

// options are the flags.
type options struct {
	workspace, preset, profile  string
	queries, perSource, threads int
	train                       bool
	given                       []func(*configuration.Configuration) error // hyperparameters
}

// result is the line that is printed. Times are milliseconds per query: those of the phases are summed
// over all threads, the total is the time that passes.
type result struct {
	Queries int `json:"queries"`
	// Messages are those sent per query, without empty ones; Updates the entities updated per query,
	// summed over layers.
	Messages   float64 `json:"messages"`
	Updates    float64 `json:"updates"`
	SearchMS   float64 `json:"search_ms"`
	MessagesMS float64 `json:"messages_ms"`
	DenseMS    float64 `json:"dense_ms"`
	TotalMS    float64 `json:"total_ms"`
	Kernel     string  `json:"kernel"`
	Threads    int     `json:"threads"`
}

// rounded returns the result with the digits that mean something: a time has four, a count a tenth.
func (r result) rounded() result {
	for _, ms := range []*float64{&r.SearchMS, &r.MessagesMS, &r.DenseMS, &r.TotalMS} {
		*ms, _ = strconv.ParseFloat(strconv.FormatFloat(*ms, 'g', 4, 64), 64)
	}
	r.Messages, r.Updates = math.Round(10*r.Messages)/10, math.Round(10*r.Updates)/10
	return r
}

func parse(arguments []string, diagnostics io.Writer) (o options, err error) {
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.StringVar(&o.workspace, "workspace", "workspace", "`folder` of a workspace with a graph, made by preprocess")
	set.StringVar(&o.preset, "preset", "", "`name` of a configuration or a file with one, as train takes it; hyperparameters of train, which are flags here too, replace its values")
	set.IntVar(&o.queries, "queries", 64, "queries to propagate")
	set.IntVar(&o.perSource, "per_source", 1, "queries that share a source")
	set.IntVar(&o.threads, "threads", 1, "queries propagated in parallel")
	set.BoolVar(&o.train, "train", false, "time forward pass, loss and backward pass of training queries, their facts' edges removed")
	set.StringVar(&o.profile, "cpuprofile", "", "write a CPU profile of the timed part to this `file`, for go tool pprof")
	for _, f := range configuration.Fields() {
		register := set.Func
		if f.Kind() == reflect.Bool {
			register = set.BoolFunc
		}
		register(f.Name, f.Usage(), func(text string) error {
			o.given = append(o.given, func(c *configuration.Configuration) error { return f.Set(c, text) })
			return f.Set(&configuration.Configuration{}, text)
		})
	}
	err = program.Parse(set, "Times the propagation on a workspace's graph: the search, the messages and the dense layers of a query.", arguments, diagnostics)
	if err == nil && (o.queries < 1 || o.perSource < 1 || o.threads < 1) {
		err = program.Usage("--queries, --per_source and --threads must be 1 or more")
	}
	return o, err
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
	if o.profile != "" {
		f, err := os.Create(o.profile)
		if err == nil {
			defer f.Close()
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			return fmt.Errorf("--cpuprofile: %w", err)
		}
	}
	r, err := b.measure(ctx)
	pprof.StopCPUProfile()
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r.rounded())
}
