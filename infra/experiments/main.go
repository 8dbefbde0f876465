// Command experiments makes the runs of a list: it starts the commands of each as processes, and writes what they took
// and measured to a result file.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"

	"tagnet/formats/names"
	"tagnet/infra/experiments/internal/lists"
	"tagnet/infra/internal/engine"
	"tagnet/infra/internal/program"
)

func main() {
	os.Exit(program.Run("experiments", "interrupted; what is finished is kept, and the same command continues", run))
}

const does = `Makes the runs of a list and writes a result file for each: go run ./infra/experiments [LIST] [flags]. Without a list it makes those of
infra/experiments/paper.json, the paper's trainings; others are zeroshot.json and reach.json there, infra/bench/commands.json and infra/truth/truth.json.
A run that has a result is skipped. make results writes the tables.`

func run(ctx context.Context, arguments []string, out, diagnostics io.Writer) error {
	set := flag.NewFlagSet("experiments", flag.ContinueOnError)
	only := set.String("only", "", "make the runs whose names, or a part of them before or after the slash, a `pattern` matches, with * for any "+
		"characters; several separated by commas")
	state := set.String("state", "", "`folder` of the workspaces, the logs and the programs (default: experiments/LIST)")
	threads := set.Int("threads", runtime.NumCPU(), "threads of a command, where times are not compared")
	plan := set.Bool("plan", false, "print how far the runs are, and write nothing")
	verify := set.Bool("verify", false, "make runs that have a result again, in a new state, and compare every metric with the result")
	force := set.Bool("force", false, "make runs again that have a result")
	file := filepath.Join("infra", "experiments", "paper.json")
	command := names.CommandLine(append([]string{"experiments"}, arguments...)...)
	if len(arguments) > 0 && !strings.HasPrefix(arguments[0], "-") {
		file, arguments = arguments[0], arguments[1:]
	}
	if err := program.Parse(set, does, arguments, diagnostics); err != nil {
		return err
	}
	switch {
	case *threads < 1:
		return program.Usage("--threads is %d, want 1 or more", *threads)
	case *verify && (*only == "" || *force || *plan):
		return program.Usage("--verify makes runs again: say with --only which, and leave --force and --plan out")
	}
	list, err := lists.Open(ctx, file, *threads)
	if err != nil {
		return err
	}
	if list.Runs, err = engine.Select(list.Runs, *only); err != nil {
		return program.Usage("--only: %w", err)
	}
	if *state == "" {
		*state = filepath.Join("experiments", strings.TrimSuffix(filepath.Base(file), ".json"))
	}
	e := &engine.Engine{State: *state, Results: list.Results, Fresh: list.Fresh, Force: *force, Out: out, Diagnostics: diagnostics}
	switch {
	case *plan:
		return printPlan(ctx, e, list.Runs, out)
	case *verify:
		return e.Verify(ctx, command, list.Runs)
	}
	return e.Make(ctx, command, list.Runs)
}

func printPlan(ctx context.Context, e *engine.Engine, runs []engine.Run, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	count := map[string]int{}
	for _, r := range runs {
		state, why, _ := e.Inspect(ctx, r)
		count[state]++
		fmt.Fprintf(w, "%s\t%s\t%s\n", r.Name, state, why)
	}
	fmt.Fprintf(w, "%d runs: %d done, %d stale, %d missing\n", len(runs), count[engine.Done], count[engine.Stale], count[engine.Missing])
	return w.Flush()
}
