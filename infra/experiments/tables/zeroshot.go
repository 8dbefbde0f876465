package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/formats/workspace/metrics"
	"tagnet/infra/experiments/internal/lists"
	"tagnet/infra/internal/engine"
	"tagnet/model/pretrained"
	"tagnet/model/weights/checkpoint"
)

// zeroshotPage is what ZEROSHOT.md is made from.
type zeroshotPage struct {
	lists.Zeroshot
	results map[string]*engine.Result // by the names of the runs
	seen    map[string]bool           // whether a model was trained on facts of a graph, by the names of the runs without fine-tuning
}

// readZeroshot reads the list of a folder, and its results.
func readZeroshot(ctx context.Context, folder string) (*zeroshotPage, error) {
	l, results, err := readList[lists.Zeroshot](ctx, filepath.Join(folder, "zeroshot.json"), lists.ZeroshotResults)
	z := &zeroshotPage{l, results, map[string]bool{}}
	for _, g := range l.Graphs {
		for _, m := range l.Models {
			z.seen[g.RunName(m, false)] = l.Seen(m, g)
		}
	}
	return z, err
}

// TrainedOn says what a model was trained on, as far as it is published.
func (z *zeroshotPage) TrainedOn(m lists.Model) string {
	return pretrained.Graphs(checkpoint.Origin{SHA256: m.SHA256, Model: m.Model})
}

// scored is what was measured of a model on graphs: on one, or the means of the metrics and the sums of the rest.
type scored struct {
	metrics.Metrics
	Queries, Unreached, Messages int64
	CPU, Training                float64 // seconds of scoring, and of a fine-tuning
	Seen                         bool    // the model was trained on facts of the graph
}

// Of returns what was measured of a model on graphs, nil if one of them is not.
func (z *zeroshotPage) Of(m lists.Model, tuned bool, graphs ...lists.Target) *scored {
	s := &scored{}
	for _, g := range graphs {
		r := z.results[g.RunName(m, tuned)]
		if r == nil {
			return nil
		}
		score := r.Commands[lists.ScoreCommand]
		e := score.Evaluation
		s.Metrics = s.Plus(e.Pessimistic, 1/float64(len(graphs)))
		s.Queries, s.Unreached, s.Messages = s.Queries+e.Queries, s.Unreached+e.Unreached, s.Messages+e.Messages
		s.CPU, s.Training = s.CPU+score.CPUSeconds, s.Training+r.Commands[lists.TrainCommand].CPUSeconds
		s.Seen = s.Seen || z.seen[g.RunName(m, false)]
	}
	return s
}

func (z *zeroshotPage) Measured(tuned bool) []lists.Model {
	return slices.DeleteFunc(slices.Clone(z.Models), func(m lists.Model) bool {
		return !slices.ContainsFunc(z.Graphs, func(g lists.Target) bool { return z.Of(m, tuned, g) != nil })
	})
}

// Rows returns the graphs that some model is measured on, of those that are listed apart or of the others.
func (z *zeroshotPage) Rows(tuned, apart bool) []lists.Target {
	return slices.DeleteFunc(slices.Clone(z.Graphs), func(g lists.Target) bool {
		return g.Apart != apart || !slices.ContainsFunc(z.Models, func(m lists.Model) bool { return z.Of(m, tuned, g) != nil })
	})
}

// Common returns the graphs of a mean: those that are not listed apart and that all models with results are measured
// on, or of these only those of which none has seen facts.
func (z *zeroshotPage) Common(tuned, unseen bool) []lists.Target {
	return slices.DeleteFunc(z.Rows(tuned, false), func(g lists.Target) bool {
		return slices.ContainsFunc(z.Measured(tuned), func(m lists.Model) bool { return z.Of(m, tuned, g) == nil || unseen && z.seen[g.RunName(m, false)] })
	})
}

// Sum returns what was measured of a model on the graphs of a mean, nil if it is not among those with results.
func (z *zeroshotPage) Sum(m lists.Model, tuned, unseen bool) *scored {
	if !slices.Contains(z.Measured(tuned), m) {
		return nil
	}
	return z.Of(m, tuned, z.Common(tuned, unseen)...)
}

// Programs counts the zero-shot results by processor and program.
func (z *zeroshotPage) Programs() []count {
	var all []*engine.Result
	for name, r := range z.results {
		if !strings.HasSuffix(name, "-tuned") {
			all = append(all, r)
		}
	}
	return by(all, processor)
}
