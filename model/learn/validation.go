package learn

import (
	"context"
	"errors"
	"fmt"
	"math"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/graph"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/parameters"
)

// validate ranks the validation queries with weights, if this epoch is to be validated. Of several graphs it returns
// the mean of their metrics, and the metrics of each.
func (l *learner) validate(ctx context.Context, weights *parameters.Set[float32]) (*metrics.Valid, []metrics.EpochTrial, error) {
	due := l.epoch%max(1, l.Validation.Every) == 0 || l.epoch == l.Configuration.Epochs
	if !due || l.validQueries == 0 {
		return nil, nil, nil
	}
	valid, trials, err := l.rankGraphs(ctx, weights)
	if err != nil {
		return nil, nil, fmt.Errorf("validating epoch %d: %w", l.epoch, l.explain(err))
	}
	return valid, trials, nil
}

// validateStart ranks the validation queries by weights that were trained elsewhere, before the first step.
func (l *learner) validateStart(ctx context.Context) error {
	if l.record.Origin == nil || l.record.Start != nil || l.solver.Steps() > 0 || l.validQueries == 0 {
		return nil
	}
	valid, _, err := l.rankGraphs(ctx, l.parameters)
	if err != nil {
		return fmt.Errorf("validating the weights before the training: %w", l.explain(err))
	}
	l.record.Start = valid
	l.begin()
	p := l.progress(0)
	p.Start = valid
	l.report(p)
	return nil
}

// rankGraphs ranks the validation queries of all graphs, and returns their metrics as validate returns them.
func (l *learner) rankGraphs(ctx context.Context, weights *parameters.Set[float32]) (*metrics.Valid, []metrics.EpochTrial, error) {
	if err := l.closeTrainers(); err != nil { // frees their buffers; the weights and moments stay
		return nil, nil, err
	}
	var trials []metrics.EpochTrial
	ranked := int64(0)
	for _, t := range l.validationGraphs {
		valid, err := l.rank(ctx, t, weights, ranked)
		if err != nil {
			return nil, nil, err
		}
		trials = append(trials, metrics.EpochTrial{Name: t.Name, Valid: valid})
		ranked += valid.Queries
	}
	if l.Mixture == nil {
		return &trials[0].Valid, nil, nil
	}
	return mean(trials), trials, nil
}

// rank ranks the validation queries of a graph, after a number of queries of other graphs.
func (l *learner) rank(ctx context.Context, t ValidationGraph, weights *parameters.Set[float32], before int64) (metrics.Valid, error) {
	model := answer.Model{
		Graph: t.Graph, Configuration: l.Configuration, Parameters: weights, Relations: t.Relations,
		Resources: answer.Resources{Kernel: l.kernel, Threads: l.Threads, Device: &l.device, Announce: func(string) { l.announce() }},
	}
	done := &tally{sum: before, report: func(n int64) { l.report(l.progress(n)) }}
	var ranks ranking.Accumulator
	var chance ranking.Chance
	var bootstrap ranking.Bootstrap // of a sample of the queries
	var draws ranking.Weights
	sampled := t.All > t.rows()
	// A sample is also drawn again and again, for the interval of its metrics.
	err := t.each(func(queries []answer.Request) error {
		scored, err := model.Answer(ctx, queries, answer.Kept{Done: done.add})
		if err != nil {
			return err
		}
		for _, q := range scored.Queries {
			for _, r := range q.Results {
				ranks.Add(r.Rank)
				chance.Add(r.Rank.Candidates)
				if sampled {
					draws.Draw(0, r.Row)
					bootstrap.Add(&draws, r.Rank.Pessimistic)
				}
			}
		}
		return nil
	})
	if err := errors.Join(graph.Named(err, t.Entities, t.BaseRelations), model.Close()); err != nil {
		return metrics.Valid{}, err
	}
	valid := metrics.Valid{Queries: ranks.Queries, Chance: chance.MRR(), Ranks: ranks.Metrics()}
	if sampled {
		valid.Sample = bootstrap.Sample(t.All)
	}
	return valid, nil
}

// mean returns the mean of the metrics of graphs, each with the same weight, and the sum of their queries.
func mean(trials []metrics.EpochTrial) *metrics.Valid {
	var m metrics.Valid
	share := 1 / float64(len(trials))
	for _, t := range trials {
		m.Chance.MRR += share * t.Chance.MRR
		m.Chance.Error = math.Hypot(m.Chance.Error, share*t.Chance.Error)
		m.Queries += t.Queries
		m.Tied += share * t.Tied
		m.Pessimistic = m.Pessimistic.Plus(t.Pessimistic, share)
		m.Mean = m.Mean.Plus(t.Mean, share)
		m.Optimistic = m.Optimistic.Plus(t.Optimistic, share)
	}
	return &m
}

// mixture returns the description of the graphs, or nil for one graph.
func (l *learner) mixture() *checkpoint.Mixture {
	if l.Mixture == nil {
		return nil
	}
	return &l.Mixture.Description
}

// parts returns the part of each graph in the epoch, for training.jsonl.
func (l *learner) parts() (parts []metrics.EpochGraph) {
	for i, p := range l.partial.Graphs {
		name := l.Mixture.Description.Names()[i]
		parts = append(parts, metrics.EpochGraph{Name: name, Steps: p.Steps, Loss: p.Loss / float64(max(1, p.Queries))})
	}
	return parts
}
