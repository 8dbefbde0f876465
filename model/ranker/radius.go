package ranker

import (
	"context"
	"slices"

	"tagnet/model/ranking"
)

// RadiusLoss compares what ULTRA answers to some queries within a radius with its exact answers.
type RadiusLoss struct {
	Queries int
	// MRR is that of the labelled answers, of which there are Answers: exact, and within the radius, ties counted against them.
	Answers    int
	Exact, MRR float64
	// Best is the share of the exact best candidates that are among the best within the radius.
	Best float64
	// Messages is the share of the exact propagation's messages that are sent within the radius.
	Messages float64
}

// LossOf answers queries with ULTRA, exactly and within the radius of the model.
func LossOf(ctx context.Context, m Model, list ranking.Selection, with Means, queries []Query) (RadiusLoss, error) {
	loss := RadiusLoss{Queries: len(queries)}
	var scored [2]*Scored
	for i, radius := range []int{0, m.Radius} {
		m.Radius = radius
		ranker, err := New(m, list, with)
		if err != nil {
			return loss, err
		}
		if scored[i], err = ranker.Rank(ctx, &Bundle{Queries: queries}, nil); err != nil {
			return loss, err
		}
	}
	exact, within := scored[0], scored[1]
	loss.Messages = float64(within.Messages) / float64(max(1, exact.Messages))
	candidates, kept := 0, 0
	for i, q := range exact.Queries {
		near := within.Queries[i]
		for j, result := range q.Results {
			loss.Answers++
			loss.Exact += 1 / float64(result.Rank.Pessimistic)
			loss.MRR += 1 / float64(near.Results[j].Rank.Pessimistic)
		}
		candidates += len(q.Best)
		for _, c := range q.Best {
			if slices.ContainsFunc(near.Best, func(other Candidate) bool { return other.Entity == c.Entity }) {
				kept++
			}
		}
	}
	loss.Exact /= float64(max(1, loss.Answers))
	loss.MRR /= float64(max(1, loss.Answers))
	loss.Best = float64(kept) / float64(max(1, candidates))
	return loss, nil
}
