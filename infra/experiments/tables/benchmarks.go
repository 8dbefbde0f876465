package main

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/infra/experiments/internal/lists"
	"tagnet/infra/internal/engine"
	"tagnet/infra/truth"
)

// benchmarksPage is what BENCHMARKS.md is made from.
type benchmarksPage struct {
	lists.Benchmarks
	results map[string]*engine.Result // by the names of the entries
	// Least and Most are the loads of the machine, Cores its cores.
	Least, Most, Cores float64
}

// readBenchmarks reads the list of a folder and its results.
func readBenchmarks(ctx context.Context, folder string) (*benchmarksPage, error) {
	l, err := lists.ReadBenchmarks(ctx, filepath.Join(folder, "commands.json"))
	b := &benchmarksPage{Benchmarks: l, results: map[string]*engine.Result{}}
	for i, run := range l.Runs() {
		if err != nil {
			break
		}
		var r *engine.Result
		if r, err = engine.Read(ctx, filepath.Join(folder, "results"), run.Name); r == nil || len(r.Differences(run.Inputs)) > 0 {
			continue
		}
		b.results[run.Name], b.Cores = r, float64(r.Machine.Cores)
		load := r.Commands[lists.MeasureCommand].Load
		if b.Most = max(b.Most, load); i == 0 || load < b.Least {
			b.Least = load
		}
	}
	return b, err
}

// Measured returns what was measured of an entry, nil if nothing was.
func (b *benchmarksPage) Measured(entry string) *engine.Measured {
	r := b.results[entry]
	if r == nil {
		return nil
	}
	m := r.Commands[lists.MeasureCommand]
	return &m
}

// Processor returns the processor that an entry was measured on.
func (b *benchmarksPage) Processor(entry string) string { return b.results[entry].Machine.Processor }

// Programs counts the results by machine and program.
func (b *benchmarksPage) Programs() []count {
	return by(slices.Collect(maps.Values(b.results)), func(r *engine.Result) string {
		return machine(r) + strings.TrimPrefix(processor(r), r.Machine.Processor)
	})
}

// readTruth reads the list of a folder and its results.
func readTruth(ctx context.Context, folder string) (truth.Results, error) {
	l, err := truth.ReadList(ctx, filepath.Join(folder, "truth.json"))
	if err != nil {
		return nil, err
	}
	return l.Results(ctx, filepath.Join(folder, "results"))
}
