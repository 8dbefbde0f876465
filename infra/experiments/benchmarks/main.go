// Command benchmarks measures the commands of a list, and writes a result file for each.
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
	"slices"
	"strings"

	"tagnet/formats/input/datasets"
	"tagnet/formats/names"
	"tagnet/infra/experiments/internal/benchmark"
	"tagnet/infra/experiments/internal/engine"
	"tagnet/infra/internal/program"
)

func main() {
	os.Exit(program.Run("experiments/benchmarks", "interrupted; results are kept, and the same command measures the others", run))
}

const does = `Runs the commands of a list (infra/bench/commands.json), one at a time, and writes to a result file for each what it took: the time, the
processor time and the largest resident memory. A result is kept unless its commands differ from the list. make results writes the page.
The data is in the folder of ` + datasets.DataVariable + `.`

func run(ctx context.Context, arguments []string, out, diagnostics io.Writer) (err error) {
	set := flag.NewFlagSet("experiments/benchmarks", flag.ContinueOnError)
	file := set.String("list", "infra/bench/"+benchmark.ListFile, "`file` of the commands; the results are in results/ beside it")
	state := set.String("state", "experiments/benchmarks", "`folder` of the workspaces, the logs and the programs")
	only := set.String("only", "", "measure the entries with these `names`, separated by commas (default: all)")
	force := set.Bool("force", false, "measure again what has a result")
	if err := program.Parse(set, does, arguments, diagnostics); err != nil {
		return err
	}
	list, err := benchmark.ReadList(ctx, *file)
	if err != nil {
		return fmt.Errorf("--list: %w", err)
	}
	entries, err := chosen(list, *only)
	if err != nil {
		return program.Usage("--only: %w", err)
	}
	data, err := filepath.Abs(cmp.Or(os.Getenv(datasets.DataVariable), "data")) // the commands run elsewhere
	if err != nil {
		return err
	}
	if err := os.Setenv(datasets.DataVariable, data); err != nil {
		return err
	}
	release, err := engine.Lock(ctx, *state, names.CommandLine(append([]string{set.Name()}, arguments...)...))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	r := &benchmark.Runner{Folder: filepath.Dir(*file), State: *state, Processes: &engine.Processes{}, Build: engine.BuildPackage}
	return measure(ctx, r, entries, *force, out, diagnostics)
}

// chosen returns the entries with the names, in the order of the list, all without one.
func chosen(list benchmark.List, only string) (entries []benchmark.Entry, err error) {
	if only == "" {
		return list.Entries, nil
	}
	var known []string
	for _, e := range list.Entries {
		known = append(known, e.Name)
	}
	wanted := strings.Split(only, ",")
	for _, name := range wanted {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("the list has no %q; the closest are %s", name, strings.Join(names.Closest(name, known, 3), ", "))
		}
	}
	// A command that another one prepares with is measured before, as afterwards it would find its output there.
	for _, e := range list.Entries {
		if slices.Contains(wanted, e.Name) {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// measure measures the entries that have no result, all with force. A failure does not stop the others.
func measure(ctx context.Context, r *benchmark.Runner, entries []benchmark.Entry, force bool, out, diagnostics io.Writer) error {
	var left []benchmark.Entry
	for _, e := range entries {
		kept, err := benchmark.ReadResult(ctx, r.Folder, e)
		if err != nil && !force {
			return fmt.Errorf("%w; --force replaces it", err)
		}
		if kept == nil || force {
			left = append(left, e)
		}
	}
	if err := r.Open(); err != nil {
		return err
	}
	defer context.AfterFunc(ctx, r.Processes.Interrupt)()
	var failed []string
	for i, e := range left {
		fmt.Fprintf(diagnostics, "%d of %d, %d left: %s\n", i+1, len(left), len(left)-i-1, e.Measure)
		m, err := r.Measure(ctx, e)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			failed = append(failed, e.Name)
			fmt.Fprintf(diagnostics, "%s failed: %v\n", e.Name, err)
		default:
			fmt.Fprintf(out, "%s: %.1f s, %.1f s of processor time, at most %.0f MiB, load %.1f\n", e.Name, m.Seconds, m.CPUSeconds, m.PeakMiB, m.Load)
		}
	}
	fmt.Fprintf(out, "results: %s; make results writes the page\n", filepath.Join(r.Folder, benchmark.ResultsFolder))
	if len(failed) > 0 {
		return fmt.Errorf("%d failed: %s", len(failed), strings.Join(failed, ", "))
	}
	return nil
}
