// Command reach measures models whose queries propagate through a part of the graph, on the sets of a list, and writes a result file for each set
// and reach.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"tagnet/formats/input/datasets"
	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/infra/experiments/internal/engine"
	"tagnet/infra/experiments/internal/reach"
	"tagnet/infra/internal/program"
)

func main() {
	os.Exit(program.Run("experiments/reach", "interrupted; results are kept, and the same command makes the others", run))
}

const does = `Trains and scores with queries that propagate through a part of the graph (train --reach, score --reach), on the sets and with the reaches of a
list (infra/experiments/reach.json). It writes the metrics, the messages and the processor time to a result file for each set and reach. A
result is kept unless the list has other flags for its set. One process runs at a time, with one thread. make results writes the table.`

// options are the flags.
type options struct {
	list, data, state, results, only, tagnet string
	memory                                   int
	force                                    bool
}

func (o *options) register(set *flag.FlagSet) {
	set.StringVar(&o.list, "list", "infra/experiments/"+reach.ListFile, "`file` of the sets, the reaches and the protocol")
	set.StringVar(&o.data, "data", cmp.Or(os.Getenv(datasets.DataVariable), "data"), "`folder` that the names of the list are below; without this flag that of "+datasets.DataVariable)
	set.StringVar(&o.state, "state", "experiments/reach", "`folder` of the workspaces, the logs and the program")
	set.StringVar(&o.results, "results", "", "`folder` of the result files (default: reach/results beside the list)")
	set.StringVar(&o.only, "only", "", "measure what a `pattern` of SET or SET/PERCENT matches, with * for any characters but the slash; several separated by commas")
	set.BoolVar(&o.force, "force", false, "measure again what has a result")
	set.IntVar(&o.memory, "memory", 1024, "`MiB` of a process")
	set.StringVar(&o.tagnet, "tagnet", "", "built `program` to use instead of building ./pipelines/tagnet")
}

func run(ctx context.Context, arguments []string, out, diagnostics io.Writer) (err error) {
	var o options
	set := flag.NewFlagSet("experiments/reach", flag.ContinueOnError)
	o.register(set)
	if err := program.Parse(set, does, arguments, diagnostics); err != nil {
		return err
	}
	if o.memory < 1 {
		return program.Usage("--memory must be 1 or more")
	}
	list, err := reach.ReadList(ctx, o.list)
	if err != nil {
		return fmt.Errorf("--list: %w", err)
	}
	items, err := list.Items(o.only)
	if err != nil {
		return program.Usage("--only: %w", err)
	}
	o.results = cmp.Or(o.results, filepath.Join(filepath.Dir(o.list), filepath.FromSlash(reach.ResultsFolder)))
	if err := storage.CheckWritable(ctx, o.results); err != nil {
		return fmt.Errorf("--results: %w", err)
	}
	release, err := engine.Lock(ctx, o.state, names.CommandLine(append([]string{set.Name()}, arguments...)...))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	r := &reach.Runner{Data: o.data, State: o.state, Results: o.results, Processes: &engine.Processes{}, Memory: o.memory}
	if r.Program, err = engine.OpenOrBuild(ctx, o.tagnet, o.state, diagnostics); err != nil {
		return err
	}
	return measure(ctx, r, items, o.force, out, diagnostics)
}

// measure makes what the results of the items lack. A failure does not stop the others.
func measure(ctx context.Context, r *reach.Runner, items []reach.Item, force bool, out, diagnostics io.Writer) error {
	defer context.AfterFunc(ctx, r.Processes.Interrupt)()
	var failed []string
	for n, i := range items {
		result, lacks, err := r.Lacking(ctx, i, force)
		if err == nil && lacks {
			fmt.Fprintf(diagnostics, "%d of %d: %s\n", n+1, len(items), i.ID())
			err = r.Measure(ctx, i, &result)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			failed = append(failed, i.ID())
			fmt.Fprintf(diagnostics, "%s failed: %v\n", i.ID(), err)
		case lacks:
			show(out, result)
		}
	}
	fmt.Fprintf(out, "results: %s; make results writes the table\n", r.Results)
	if len(failed) > 0 {
		return fmt.Errorf("%d failed: %s", len(failed), strings.Join(failed, ", "))
	}
	return nil
}

// show prints a result.
func show(out io.Writer, r reach.Result) {
	t := r.Trained
	fmt.Fprintf(out, "%s/%d: MRR %.4f, Hits@10 %.4f", r.Name, r.Percent, t.Pessimistic.MRR, t.Pessimistic.Hits10)
	if s := r.Scored; s != nil {
		fmt.Fprintf(out, "; only scored MRR %.4f, Hits@10 %.4f", s.Pessimistic.MRR, s.Pessimistic.Hits10)
	}
	fmt.Fprintf(out, "; training took %.1f s of processor time, scoring %d queries %.1f s\n", t.Training.CPUSeconds, t.Measured.Queries, t.CPUSeconds)
}
