package main

import (
	"context"
	"math/rand/v2"

	"tagnet/model/propagation"
)

// question is a source and the relations that are asked of it.
type question struct {
	source    int32
	relations []int32
}

// questions draws sources uniformly from all entities.
func (b *bench) questions() (out []question, relations []int32) {
	random := rand.New(rand.NewPCG(b.seed, 1))
	for left := b.queries; left > 0; {
		q := question{source: int32(random.IntN(b.graph.Entities))}
		for range min(b.perSource, left) {
			q.relations = append(q.relations, int32(random.IntN(b.graph.RelationCount())))
			left--
		}
		out, relations = append(out, q), append(relations, q.relations...)
	}
	return out, relations
}

// measureForward times propagations, with their searches.
func (b *bench) measureForward(ctx context.Context) (result, error) {
	questions, relations := b.questions()
	b.weights.Embed(b.kernel, relations)
	return b.run(ctx, b.seats(len(questions)), len(questions), func(s *seat, i int) error { return s.answer(questions[i]) })
}

// answer propagates all queries of a source, two at a time where that is faster.
func (s *seat) answer(q question) error {
	for rest := q.relations; len(rest) > 0; {
		batch := rest[:min(s.propagator.MaxLanes(), len(rest))]
		rest = rest[len(batch):]
		if err := s.propagator.ForwardBatch(s.weights, propagation.Query{Source: q.source}, batch); err != nil {
			return err
		}
		s.count()
	}
	return nil
}
