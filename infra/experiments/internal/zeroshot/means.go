package zeroshot

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"tagnet/formats/workspace/metrics"
)

// Results are results by the names of graph and model.
type Results map[[2]string]Result

// ReadResults reads the results of a list. Files of others are left alone.
func (l List) ReadResults(ctx context.Context, folder string) (Results, error) {
	all := Results{}
	for _, g := range l.Graphs {
		for _, m := range l.Models {
			r, err := ReadResult(ctx, folder, g.Name, m.Name)
			switch {
			case err == nil:
				all[[2]string{g.Name, m.Name}] = r
			case !errors.Is(err, fs.ErrNotExist):
				return nil, err
			}
		}
	}
	return all, nil
}

// Of returns the metrics of a model on a graph, after a fine-tuning or without, and false if they are not measured.
func (all Results) Of(g Graph, m Model, tuned bool) (Measured, bool) {
	r, ok := all[[2]string{g.Name, m.Name}]
	switch {
	case !ok || tuned && r.FineTuned == nil:
		return Measured{}, false
	case tuned:
		return r.FineTuned.Measured, true
	}
	return r.ZeroShot, true
}

// Measured returns the models of a list that have a result.
func (all Results) Measured(models []Model, graphs []Graph, tuned bool) []Model {
	return slices.DeleteFunc(slices.Clone(models), func(m Model) bool {
		return !slices.ContainsFunc(graphs, func(g Graph) bool { _, ok := all.Of(g, m, tuned); return ok })
	})
}

// Common returns the graphs that are not listed apart and that all of some models are measured on, by the same queries: those of a mean.
func (all Results) Common(models []Model, graphs []Graph, tuned bool) (common []Graph) {
	for _, g := range graphs {
		lacks := slices.ContainsFunc(models, func(m Model) bool {
			_, ok := all.Of(g, m, tuned)
			return !ok || all[[2]string{g.Name, m.Name}].Limit != all[[2]string{g.Name, models[0].Name}].Limit
		})
		if !g.Apart && !lacks {
			common = append(common, g)
		}
	}
	return common
}

// Mean returns the means of a model's pessimistic metrics over graphs, each of which counts once, and the sums of processor time of scoring and of messages.
func (all Results) Mean(m Model, graphs []Graph, tuned bool) (mean metrics.Metrics, cpuSeconds float64, messages int64) {
	for _, g := range graphs {
		measured, _ := all.Of(g, m, tuned)
		mean = mean.Plus(measured.Pessimistic, 1/float64(len(graphs)))
		cpuSeconds += measured.CPUSeconds
		messages += measured.Messages
	}
	return mean, cpuSeconds, messages
}
