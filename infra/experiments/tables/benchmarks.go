package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/infra/experiments/internal/benchmark"
)

// benchFolder has the list of commands and their results, seen from the folder of experiments, and benchmarksPage is the page about them.
const (
	benchFolder    = "../bench"
	benchmarksPage = benchFolder + "/BENCHMARKS.md"
)

// benchmarks holds the inputs of the page of what commands take.
type benchmarks struct {
	benchmark.List
	results map[string]*benchmark.Result // by the names of the entries; nil for what is not measured
}

// readBenchmarks reads the list and its results. It is nil without a list.
func readBenchmarks(ctx context.Context, experiments string) (*benchmarks, error) {
	folder := filepath.Join(experiments, filepath.FromSlash(benchFolder))
	list, err := benchmark.ReadList(ctx, filepath.Join(folder, benchmark.ListFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b := &benchmarks{List: list, results: map[string]*benchmark.Result{}}
	for _, e := range list.Entries {
		if b.results[e.Name], err = benchmark.ReadResult(ctx, folder, e); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// page returns BENCHMARKS.md.
func (b *benchmarks) page() string {
	t := &text{}
	t.say("<!-- Written by `go run ./infra/experiments/tables` (`make results`) from commands.json and results/: change those instead. -->")
	t.say("# Benchmarks")
	t.say("What commands of tagnet take: time and memory. [commands.json](commands.json) lists them, [go run ./infra/experiments/benchmarks](../experiments/README.md#benchmarks) measures them. [README.md](README.md) says what a query takes, phase by phase.")
	t.list(b.Protocol)
	b.shared(t)
	var rows [][]string
	for _, e := range b.Entries {
		work := grouped(e.Count) + " " + e.Unit
		if r := b.results[e.Name]; r != nil {
			rows = append(rows, []string{e.What, work, seconds(r.Seconds), seconds(r.CPUSeconds), each(r.CPUSeconds / float64(e.Count)), fmt.Sprintf("%.0f", r.PeakMiB), seconds(r.Load), command(e)})
		} else {
			rows = append(rows, []string{e.What, work, "not measured", "", "", "", "", command(e)})
		}
	}
	t.table([]string{"what", "work", "time, s", "processor time, s", "for each", "peak, MiB", "load", "command"}, rows)
	for _, e := range b.Entries {
		if r := b.results[e.Name]; r != nil && e.Prints {
			t.say("What this itself prints, %s:\n\n    %s", e.What, r.Printed)
		}
	}
	b.elsewhere(t)
	b.made(t)
	return t.file()
}

// command returns the markup of the command of an entry, with what has to run before.
func command(e benchmark.Entry) string {
	text := "`" + e.Measure + "`"
	if len(e.Prepare) > 0 {
		text += " after `" + strings.Join(e.Prepare, "`, `") + "`"
	}
	return text
}

// each writes the time of one unit.
func each(s float64) string {
	if s < 1e-3 {
		return fmt.Sprintf("%.1f µs", s*1e6)
	}
	return fmt.Sprintf("%.1f ms", s*1e3)
}

// measured returns the results, in the order of the list.
func (b *benchmarks) measured() (all []*benchmark.Result) {
	for _, e := range b.Entries {
		if r := b.results[e.Name]; r != nil {
			all = append(all, r)
		}
	}
	return all
}

// shared says whether the machine did other work. A command that runs alone wants no more than all of the cores, and so did the one before.
func (b *benchmarks) shared(t *text) {
	all := b.measured()
	if len(all) == 0 {
		return
	}
	byLoad := func(x, y *benchmark.Result) int { return int(x.Load*100) - int(y.Load*100) }
	least, most := slices.MinFunc(all, byLoad), slices.MaxFunc(all, byLoad)
	t.say("Load is the mean number of processes that wanted to run in the minute before the command, of which one was mostly the command measured before it.")
	if most.Load <= float64(most.Machine.Cores) {
		t.say("The load was at most %.1f, on %d cores: the machine was not shared, or hardly.", most.Load, most.Machine.Cores)
		return
	}
	t.say("**The machine was shared.** The load was %.1f to %.1f on %d cores: a command had a fraction of a core, and its time says more about the others.", least.Load, most.Load, most.Machine.Cores)
}

// elsewhere adds what others measured, beside ours.
func (b *benchmarks) elsewhere(t *text) {
	if len(b.Elsewhere) == 0 {
		return
	}
	t.say("## As measured elsewhere")
	t.say("Figures that others published of the authors' programs, as they state them, beside ours for work of that kind. The conditions are not equal: machines, and as a rule models and hyperparameters, differ. Nothing here was measured by us but the last column.")
	var rows [][]string
	for _, o := range b.Elsewhere {
		ours := o.Ours
		if r := b.results[o.Entry]; r != nil {
			ours = fmt.Sprintf("%s s of processor time, %s s of time, one thread of %s", seconds(r.CPUSeconds), seconds(r.Seconds), r.Machine.Processor)
		}
		rows = append(rows, []string{o.Work, o.Program, o.Figure, o.Hardware, "<" + o.Source + ">", ours})
	}
	t.table([]string{"work", "program", "figure", "hardware", "source", "tagnet"}, rows)
}

// made says with which programs and on which machines the results were measured.
func (b *benchmarks) made(t *text) {
	programs := map[string]int{}
	for _, r := range b.measured() {
		m := r.Machine
		programs[fmt.Sprintf("%s, %d cores, %s/%s, kernels %s, %s", m.Processor, m.Cores, m.OS, m.Arch, r.Kernel, commitOf(r.Commit, r.Modified))]++
	}
	t.made(programs)
}
