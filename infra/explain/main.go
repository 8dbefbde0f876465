// Command explain checks explanations on a trained model: how long they take, whether the first path is a rule that
// derives the answer, and whether the score falls without the path's facts.
package main

import (
	"context"
	"flag"
	"io"
	"os"

	"tagnet/infra/internal/program"
)

func main() { os.Exit(program.Run("explain", "interrupted", run)) }

// options are the flags.
type options struct {
	workspace, name, checkpoint, split string
	queries, paths, draws              int
	seed                               uint64
	rules, removal, show, walks        bool
}

func run(ctx context.Context, arguments []string, out, diagnostics io.Writer) error {
	o, err := parse(arguments, diagnostics)
	if err != nil {
		return err
	}
	t, err := open(ctx, o)
	if err != nil {
		return err
	}
	if err := t.time(ctx, out); err != nil {
		return err
	}
	if o.rules {
		if err := t.compareWithRules(ctx, out); err != nil {
			return err
		}
	}
	if o.removal {
		return t.compareRemovals(ctx, out)
	}
	return nil
}

func parse(arguments []string, diagnostics io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("explain", flag.ContinueOnError)
	set.StringVar(&o.workspace, "workspace", "workspace", "`folder` or URL of a workspace with a trained model")
	set.StringVar(&o.name, "run", "main", "`name` of the model in the workspace")
	set.StringVar(&o.checkpoint, "checkpoint", "best", "`checkpoint`: best, last, an epoch's number, or the path of its file")
	set.StringVar(&o.split, "split", "test", "split whose answers are explained: valid or test")
	set.IntVar(&o.queries, "queries", 200, "answers to explain, drawn by --seed; those farther away than the model has layers are left out")
	set.IntVar(&o.paths, "paths", 10, "paths of an explanation")
	set.BoolVar(&o.walks, "walks", false, "explain by all walks, as score --walks does")
	set.IntVar(&o.draws, "draws", 5, "draws of random facts for each answer, with --removal")
	set.Uint64Var(&o.seed, "seed", 1, "seed of the draws")
	set.BoolVar(&o.rules, "rules", false, "compare first paths with the rules of the built-in sample, the quickstart's graph")
	set.BoolVar(&o.removal, "removal", false, "remove the facts of first paths, and as many random ones near the source, and compare the scores")
	set.BoolVar(&o.show, "show", false, "print what is counted for each answer")
	if err := program.Parse(set, "Checks explanations on a trained model: their time, their rules, and the scores without their facts.", arguments, diagnostics); err != nil {
		return o, err
	}
	switch {
	case o.queries < 1 || o.paths < 1 || o.draws < 1:
		return o, program.Usage("--queries, --paths and --draws must be 1 or more")
	case o.split != "valid" && o.split != "test":
		return o, program.Usage("--split is %q: want valid or test", o.split)
	}
	return o, nil
}
