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
	for i := 0; i < len(q.relations); i++ {
		query := propagation.Query{Source: q.source, Relation: q.relations[i]}
		var err error
		if s.propagator.Pairs() && i+1 < len(q.relations) {
			i++
			err = s.propagator.ForwardPair(s.weights, query, q.relations[i])
		} else {
			err = s.propagator.Forward(s.weights, query)
		}
		if err != nil {
			return err
		}
		s.count()
	}
	return nil
}
