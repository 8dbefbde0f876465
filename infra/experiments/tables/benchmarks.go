package main

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/infra/experiments/internal/lists"
	"tagnet/infra/internal/engine"
)

// benchmarksPage has the values that the template of BENCHMARKS.md shows.
type benchmarksPage struct {
	lists.Benchmarks
	results map[string]*engine.Result // by the names of the entries
	peers   []peer
	// Least and Most are the loads of the machine, Cores its cores.
	Least, Most, Cores float64
}

// readBenchmarks reads the list of a folder and its results.
func readBenchmarks(ctx context.Context, folder string) (*benchmarksPage, error) {
	b := &benchmarksPage{}
	var err error
	if b.Benchmarks, b.results, err = readList[lists.Benchmarks](ctx, filepath.Join(folder, "commands.json"), "results"); err != nil {
		return nil, err
	}
	b.peers, err = readPeers(ctx, filepath.Join(folder, "peers", "results.jsonl"))
	for _, r := range b.results {
		load := r.Commands[lists.MeasureCommand].Load
		if b.Most = max(b.Most, load); b.Cores == 0 || load < b.Least {
			b.Least = load
		}
		b.Cores = float64(r.Machine.Cores)
	}
	return b, err
}

// Measured returns what was measured of an entry, nil if nothing was.
func (b *benchmarksPage) Measured(entry string) *engine.Measured {
	if r := b.results[entry]; r != nil {
		m := r.Commands[lists.MeasureCommand]
		return &m
	}
	return nil
}

// Processor returns the processor that an entry was measured on.
func (b *benchmarksPage) Processor(entry string) string { return b.results[entry].Machine.Processor }

// Programs counts the results by machine and program.
func (b *benchmarksPage) Programs() []count {
	return by(slices.Collect(maps.Values(b.results)), func(r *engine.Result) string {
		return machine(r) + strings.TrimPrefix(processor(r), r.Machine.Processor)
	})
}
