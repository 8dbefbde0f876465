package model

import (
	"context"
	"fmt"
	"slices"

	"tagnet/model/answer"
	"tagnet/model/graph"
)

// ScoredTriple is a triple with what the model makes of it in the graph without it.
type ScoredTriple struct {
	Triple
	// Sides has AsTail, the result of the tail as an answer of (Head, Relation, ?), and AsHead, that of the head as an answer of
	// (Tail, ~Relation, ?). Its Compare orders triples, the least plausible first.
	Sides
	// Hops is the least number of edges from head to tail without the triple itself, or Unreached.
	Hops int
	// Known is true if the triple is one of the facts of the graph or of its validation and test splits.
	Known bool
}

// Sides are the results of a triple in both directions, Side is one of them: score, filtered rank with ties counted against the answer,
// and probability, which is nil if the checkpoint has no calibration.
type (
	Sides = answer.Sides
	Side  = answer.Side
)

// Score scores triples, in their order. A triple that the graph has leaves it for its own two queries, as if it had been held out; with ULTRA's
// weights the graph of the relations keeps it, as in their training. Such a triple takes two propagations; others share those of the queries that they have
// in common. The error of an unknown entity or relation is an *UnknownNameError.
func (m *Model) Score(ctx context.Context, triples []Triple) ([]ScoredTriple, error) {
	numbered := make([]answer.Triple, len(triples))
	for i, t := range triples {
		query, err := m.lookup.Query(ctx, t.Head, t.Relation, false)
		if err != nil {
			return nil, fmt.Errorf("triple %d: %w", i+1, err)
		}
		tail, err := m.lookup.Entity(ctx, t.Tail)
		if err != nil {
			return nil, fmt.Errorf("triple %d: %w", i+1, err)
		}
		numbered[i] = answer.Triple{Number: int64(i), Fact: graph.Fact{Head: query.Source, Relation: query.Relation, Tail: tail}}
	}
	return m.score(ctx, numbered)
}

// Between returns the k most plausible relations of which (head, relation, tail) may be a fact, best first, each scored as Score does it.
// Relations are compared by the probabilities of both directions, or by the scores if the checkpoint has no calibration: what these mean differs between
// relations. It takes two propagations for each relation of the graph.
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
	numbered := make([]answer.Triple, len(m.opened.KG.Relations))
	for r := range numbered {
		numbered[r] = answer.Triple{Number: int64(r), Fact: graph.Fact{Head: source, Relation: int32(r), Tail: id}}
	}
	scored, err := m.score(ctx, numbered)
	slices.SortStableFunc(scored, func(a, b ScoredTriple) int { return b.Compare(a.Sides) })
	return scored[:min(k, len(scored))], err
}

// score scores triples, numbered from 0.
func (m *Model) score(ctx context.Context, triples []answer.Triple) ([]ScoredTriple, error) {
	ranked, err := m.opened.Answer(ctx, answer.TripleRequests(m.opened.Graph, m.known.Of, triples), answer.Want{})
	if err != nil {
		return nil, m.failed(err)
	}
	scored := ranked.Triples(m.known.Of, m.opened.Calibration)
	named := make([]ScoredTriple, len(scored))
	for i, s := range scored {
		named[i] = ScoredTriple{
			Triple: Triple{Head: m.opened.View.Entities[s.Head], Relation: m.opened.KG.Relations[s.Relation], Tail: m.opened.View.Entities[s.Tail]},
			Sides:  s.Sides, Hops: int(s.Distance), Known: s.Known,
		}
	}
	return named, nil
}
