// Command zeroshot measures models of any graph on the graphs of a list, and writes a result file for each graph and model.
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
	"time"

	"tagnet/formats/input/datasets"
	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/infra/experiments/internal/engine"
	"tagnet/infra/experiments/internal/zeroshot"
	"tagnet/infra/internal/program"
)

func main() {
	os.Exit(program.Run("experiments/zeroshot", "interrupted; results are kept, and the same command makes the others", run))
}

const does = `Scores graphs with models that were not trained on them, as a list says (infra/experiments/zeroshot.json), and writes the metrics,
the messages and the processor time to a result file for each graph and model. A result is kept unless the weights or the data differ.
One process runs at a time, with one thread.`

// options are the flags.
type options struct {
	list, data, state, results, only, models, tagnet string
	limit, memory                                    int
	tune, force                                      bool
}

func (o *options) register(set *flag.FlagSet) {
	set.StringVar(&o.list, "list", "infra/experiments/"+zeroshot.ListFile, "`file` of the graphs, the models and the protocol")
	set.StringVar(&o.data, "data", cmp.Or(os.Getenv(datasets.DataVariable), "data"), "`folder` that the names of the list are below; without this flag that of "+datasets.DataVariable)
	set.StringVar(&o.state, "state", "experiments/zeroshot", "`folder` of the workspaces, the logs and the program")
	set.StringVar(&o.results, "results", "", "`folder` of the result files (default: zeroshot/results beside the list; with --limit or weights of one's own: results in --state)")
	set.StringVar(&o.only, "only", "", "measure on the graphs that a `pattern` matches, with * for any characters; several separated by commas")
	set.StringVar(&o.models, "models", "", "`list` of models of the list, or of NAME=FILE with a file of weights (.pth, or a checkpoint's .safetensors), separated by commas (default: all of the list)")
	set.IntVar(&o.limit, "limit", 0, "query at most so many test facts of each graph, evenly taken, for a quick look; 0 is all")
	set.BoolVar(&o.tune, "tune", false, "also fine-tune, on the graphs where the list says tuned, and score again")
	set.BoolVar(&o.force, "force", false, "measure again what has a result; what a fine-tuning gave only with --tune")
	set.IntVar(&o.memory, "memory", 1024, "`MiB` of a process")
	set.StringVar(&o.tagnet, "tagnet", "", "built `program` to use instead of building ./pipelines/tagnet")
}

func run(ctx context.Context, arguments []string, out, diagnostics io.Writer) (err error) {
	var o options
	set := flag.NewFlagSet("experiments/zeroshot", flag.ContinueOnError)
	o.register(set)
	if err := program.Parse(set, does, arguments, diagnostics); err != nil {
		return err
	}
	if o.limit < 0 || o.memory < 1 {
		return program.Usage("--limit must be 0 or more, --memory 1 or more")
	}
	list, err := zeroshot.ReadList(ctx, o.list)
	if err != nil {
		return fmt.Errorf("--list: %w", err)
	}
	if list.Graphs, err = list.Select(o.only); err != nil {
		return program.Usage("--only: %w", err)
	}
	weights, own, err := o.open(ctx, list)
	if err != nil {
		return program.Usage("--models: %w", err)
	}
	if o.results == "" {
		o.results = filepath.Join(filepath.Dir(o.list), filepath.FromSlash(zeroshot.ResultsFolder))
		if own || o.limit > 0 {
			o.results = filepath.Join(o.state, "results")
		}
	}
	if err := storage.CheckWritable(ctx, o.results); err != nil {
		return fmt.Errorf("--results: %w", err)
	}
	release, err := engine.Lock(ctx, o.state, names.CommandLine(append([]string{set.Name()}, arguments...)...))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	s := &session{out: out, diagnostics: diagnostics, runner: &zeroshot.Runner{
		Data: o.data, State: o.state, Results: o.results, Processes: &engine.Processes{},
		Memory: o.memory, Limit: o.limit, Tune: o.tune, Force: o.force,
	}}
	if err := s.inspect(ctx, list.Graphs, weights); err != nil {
		return err
	}
	if len(s.items) > 0 {
		if s.runner.Program, err = engine.OpenOrBuild(ctx, o.tagnet, o.state, diagnostics); err != nil {
			return err
		}
		if err := s.measure(ctx); err != nil {
			return err
		}
	}
	list.Models = nil
	for _, w := range weights {
		list.Models = append(list.Models, w.Model)
	}
	return s.finish(ctx, list)
}

// open finds the weights of --models. own reports that some are of a file that the list does not name.
func (o options) open(ctx context.Context, list zeroshot.List) (weights []zeroshot.Weights, own bool, err error) {
	var known []string
	for _, m := range list.Models {
		known = append(known, m.Name)
	}
	for _, entry := range strings.Split(cmp.Or(o.models, strings.Join(known, ",")), ",") {
		name, file, given := strings.Cut(entry, "=")
		i := slices.Index(known, name)
		var w zeroshot.Weights
		switch {
		case slices.ContainsFunc(weights, func(w zeroshot.Weights) bool { return w.Name == name }):
			err = fmt.Errorf("%s stands twice", name)
		case given && !zeroshot.Name.MatchString(name):
			err = fmt.Errorf("%q is no name: use letters, digits, dots and hyphens", name)
		case given:
			own = true
			m := zeroshot.Model{Name: name, Epochs: 1}
			if i >= 0 {
				m.Epochs, m.EpochsAlone = list.Models[i].Epochs, list.Models[i].EpochsAlone
			}
			w, err = m.OpenFile(ctx, file)
		case i < 0:
			err = fmt.Errorf("the list has no model %q: it has %s; a file of weights is NAME=FILE", name, strings.Join(known, ", "))
		default:
			w, err = list.Models[i].Open(ctx, o.data)
		}
		if err != nil {
			return nil, false, err
		}
		weights = append(weights, w)
	}
	return weights, own, nil
}

// session is one run of the command.
type session struct {
	runner           *zeroshot.Runner
	items            []zeroshot.Item // to be measured
	failures         []string
	out, diagnostics io.Writer
}

// inspect finds out what is to be measured. A graph without data does not stop the others.
func (s *session) inspect(ctx context.Context, graphs []zeroshot.Graph, weights []zeroshot.Weights) error {
	for _, g := range graphs {
		for _, w := range weights {
			i, err := s.runner.Inspect(ctx, g, w)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil:
				s.fail(i, err)
			case i.ZeroShot || i.FineTuned:
				s.items = append(s.items, i)
			}
		}
	}
	return nil
}

func (s *session) fail(i zeroshot.Item, err error) {
	s.failures = append(s.failures, i.ID())
	fmt.Fprintf(s.diagnostics, "%s failed: %v\n", i.ID(), err)
}

// measure measures the items in their order.
func (s *session) measure(ctx context.Context) error {
	stop := context.AfterFunc(ctx, s.runner.Processes.Interrupt)
	defer stop()
	left, done := 0.0, 0.0
	for _, i := range s.items {
		left += i.Work
	}
	begun := time.Now()
	for n, i := range s.items {
		text := fmt.Sprintf("%d of %d: %s", n+1, len(s.items), i.ID())
		if done > 0 {
			text += fmt.Sprintf(", about %v left", time.Duration(left/done*float64(time.Since(begun))).Round(time.Second))
		}
		fmt.Fprintln(s.diagnostics, text)
		err := s.runner.Measure(ctx, &i)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			s.fail(i, err)
		} else {
			s.show(i.Result)
		}
		left, done = left-i.Work, done+i.Work
	}
	return nil
}

// show prints a result.
func (s *session) show(r zeroshot.Result) {
	z := r.ZeroShot
	fmt.Fprintf(s.out, "%s/%s: MRR %.4f, Hits@10 %.4f of %d queries in %.1f s of processor time", r.Graph, r.Model, z.Pessimistic.MRR, z.Pessimistic.Hits10, z.Queries, z.CPUSeconds)
	if t := r.FineTuned; t != nil {
		fmt.Fprintf(s.out, "; after %.1f s of fine-tuning MRR %.4f, Hits@10 %.4f", t.TrainingCPUSeconds, t.Pessimistic.MRR, t.Pessimistic.Hits10)
	}
	fmt.Fprintln(s.out)
}

// finish prints the means, and returns an error if something failed.
func (s *session) finish(ctx context.Context, list zeroshot.List) error {
	all, err := list.ReadResults(ctx, s.runner.Results)
	if err != nil {
		return err
	}
	for _, tuned := range []bool{false, true} {
		models := all.Measured(list.Models, list.Graphs, tuned)
		common := all.Common(models, list.Graphs, tuned)
		if len(models) == 0 || len(common) == 0 {
			continue
		}
		title := "zero-shot"
		if tuned {
			title = "fine-tuned"
		}
		fmt.Fprintf(s.out, "%s, means over the %d graphs that count and have results of all these models\n", title, len(common))
		for _, m := range models {
			mean, seconds, messages := all.Mean(m, common, tuned)
			fmt.Fprintf(s.out, "  %-8s MRR %.4f, Hits@10 %.4f; scoring took %.1f s of processor time and %d messages\n", m.Name, mean.MRR, mean.Hits10, seconds, messages)
		}
	}
	fmt.Fprintf(s.out, "results: %s\n", s.runner.Results)
	if len(s.failures) > 0 {
		return fmt.Errorf("%d failed: %s", len(s.failures), strings.Join(s.failures, ", "))
	}
	return nil
}
