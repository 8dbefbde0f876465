package model

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/graph"
)

// ScoredTriple is a triple with its scores, ranks and probability in the graph without it.
type ScoredTriple struct {
	Triple
	// AsTail is the result of the tail as an answer of (Head, Relation, ?), AsHead the result of the head as an answer
	// of (Tail, ~Relation, ?).
	AsTail, AsHead Side
	// Probability is the probability that the triple is true, given that the graph does not state it, or nil: nothing
	// is fitted yet (Fit), or too few facts of the relation are known.
	Probability *float64
	// LogOdds tell triples of equal probability apart; 0 as long as nothing is fitted.
	LogOdds float64
	// BelowUsual is by how many standard deviations these are below what is usual of the relation's facts; the least
	// plausible fact has the highest.
	BelowUsual float64
	// Hops is the least number of edges from head to tail without the triple itself, or Unreached.
	Hops Hops
	// Known is true if the triple is one of the facts of the graph or of its validation and test splits.
	Known bool
}

// Side is the result of one direction: score, and filtered rank among all entities with ties counted
// against the answer.
type Side = probability.Side

// Lower returns the lower one of both scores.
func (s *ScoredTriple) Lower() float32 { return min(s.AsTail.Score, s.AsHead.Score) }

// Compare orders triples, also of different relations, the surest first: by probability, then by log odds, then by the
// lower score. Triples without a probability are last.
func (s *ScoredTriple) Compare(o *ScoredTriple) int {
	return cmp.Or(s.estimate().Compare(o.estimate()), cmp.Compare(o.Lower(), s.Lower()))
}

func (s *ScoredTriple) estimate() probability.Estimate {
	e := probability.Estimate{HasProbability: s.Probability != nil, LogOdds: s.LogOdds}
	if e.HasProbability {
		e.Probability = *s.Probability
	}
	return e
}

// Score scores triples, in their order. A triple that the graph has leaves it for its own two queries, as if it had
// been held out; with ULTRA's weights the graph of the relations keeps it, as in their training. Such a triple takes
// two propagations; others share the propagations of queries that they have in common. The error of an unknown entity
// or relation is an *UnknownNameError.
func (m *Model) Score(ctx context.Context, triples []Triple) ([]ScoredTriple, error) {
	facts := make([]graph.Fact, len(triples))
	for i, t := range triples {
		var err error
		if facts[i], err = m.lookup.Fact(ctx, t.Head, t.Relation, t.Tail); err != nil {
			return nil, fmt.Errorf("triple %d: %w", i+1, err)
		}
	}
	return m.score(ctx, facts)
}

// Between returns the k surest relations of which (head, relation, tail) may be a fact, each scored as by Score, in the
// order of Compare. It takes two propagations for each relation of the graph.
func (m *Model) Between(ctx context.Context, head, tail string, k int) ([]ScoredTriple, error) {
	if k < 1 {
		return nil, fmt.Errorf("asking for %d relations, want 1 or more", k)
	}
	source, err := m.lookup.Entity(ctx, head)
	if err != nil {
		return nil, err
	}
	id, err := m.lookup.Entity(ctx, tail)
	if err != nil {
		return nil, err
	}
	facts := make([]graph.Fact, len(m.opened.KG.Relations))
	for r := range facts {
		facts[r] = graph.Fact{Head: source, Relation: int32(r), Tail: id}
	}
	scored, err := m.score(ctx, facts)
	slices.SortStableFunc(scored, func(a, b ScoredTriple) int { return a.Compare(&b) })
	return scored[:min(k, len(scored))], err
}

func (m *Model) score(ctx context.Context, facts []graph.Fact) ([]ScoredTriple, error) {
	e, err := m.estimator()
	if err != nil {
		return nil, err
	}
	observed, err := m.opened.Observe(ctx, facts, nil)
	if err != nil {
		return nil, m.failed(err)
	}
	list, _, err := m.opened.Estimate(ctx, observed, e, nil)
	if err != nil {
		return nil, m.failed(err)
	}
	named := make([]ScoredTriple, len(list))
	for i := range list {
		j := &list[i]
		_, j.Known = slices.BinarySearch(m.known.Of(j.Head, j.Relation), j.Tail)
		named[i] = m.scored(j)
	}
	return named, nil
}

// scored returns a fact by name.
func (m *Model) scored(j *answer.Estimated) ScoredTriple {
	entities := m.opened.View.Entities
	return ScoredTriple{
		Triple: Triple{Head: entities[j.Head], Relation: m.opened.KG.Relations[j.Relation], Tail: entities[j.Tail]},
		AsTail: j.Tails, AsHead: j.Heads, Probability: probabilityOf(j.Estimate), LogOdds: j.LogOdds, BelowUsual: j.BelowUsual, Hops: Hops(j.Hops),
		Known: j.Known,
	}
}
