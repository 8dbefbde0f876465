package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"tagnet/formats/tables"
	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/head"
	"tagnet/model/propagation"
	"tagnet/model/random"
	"tagnet/model/sampling"
)

// lesson is what a seat learns with: the head, a place for gradients, and the propagation as
// the head sees it.
type lesson struct {
	*propagation.Propagator
	seat         *seat
	query        propagation.Query
	known        tables.Answers
	entities     []int32 // the answer, then the negatives
	sampler      *sampling.Sampler
	head         *head.Head[float32]
	propagations *propagation.Gradients
	heads        *head.Gradients[float32]
}

func newLesson(ctx context.Context, s *seat) (*lesson, error) {
	c := s.configuration
	l := &lesson{
		Propagator: s.propagator, seat: s, entities: make([]int32, 1+c.Negatives),
		sampler:      sampling.New(s.graph.Entities, c.StrictNegatives),
		propagations: propagation.NewGradients(c, s.graph.RelationCount()),
	}
	var err error
	if l.known, err = s.loaded.TrainAnswers(ctx); err != nil {
		return nil, err
	}
	if l.head, err = head.New(c, len(l.entities), s.parameters, head.Propagation[float32](l), head.Products[float32](s.kernel)); err != nil {
		return nil, err
	}
	l.heads = l.head.NewGradients()
	return l, nil
}

// Forward and Backward complete what the head asks of a propagation.

func (l *lesson) Forward() error {
	if err := l.Propagator.Forward(l.seat.weights, l.query); err != nil {
		return err
	}
	l.seat.count()
	return nil
}

func (l *lesson) Backward(entities []int32, gradient, query []float32) error {
	if err := l.Propagator.Backward(entities, gradient, l.propagations); err != nil {
		return err
	}
	copy(query, l.propagations.Query)
	return nil
}

// measureTraining times search, forward, loss and backward of training queries.
func (b *bench) measureTraining(ctx context.Context) (result, error) {
	queries, err := b.lessons(ctx)
	if err != nil {
		return result{}, err
	}
	var relations []int32
	for _, q := range queries {
		relations = append(relations, q.Relation)
	}
	b.weights.Embed(b.kernel, relations)
	seats := b.seats(len(queries))
	for _, s := range seats {
		if s.lesson, err = newLesson(ctx, s); err != nil {
			return result{}, err
		}
	}
	return b.run(ctx, seats, len(queries), func(s *seat, i int) error { return s.lesson.learn(queries[i], i) })
}

// lessons draws training queries uniformly.
func (b *bench) lessons(ctx context.Context) ([]tables.Query, error) {
	all, err := b.loaded.Queries(ctx, "train")
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the training split of %s has no queries", b.workspace)
	}
	random := rand.New(rand.NewPCG(b.seed, 2))
	out := make([]tables.Query, b.queries)
	for i := range out {
		out[i] = all[random.IntN(len(all))]
	}
	return out, nil
}

// learn computes the loss and the gradients of one query, with the answer's edges removed.
func (l *lesson) learn(q tables.Query, key int) error {
	s := l.seat
	removal := graph.Removal{
		Active: true, OneHop: s.configuration.Remove == configuration.RemoveOneHop,
		Source: q.Source, Answer: q.Answer, Relation: q.Relation, Inverse: s.graph.Inverse(q.Relation),
	}
	known := l.known.Of(q.Source, q.Relation)
	l.entities[0] = q.Answer
	if err := l.sampler.Draw(s.seed, uint64(key), q.Answer, known, l.entities[1:]); err != nil {
		return err
	}
	l.query = propagation.Query{
		Source: q.Source, Relation: q.Relation, Removal: removal,
		Candidates: l.entities, Training: true, Seed: random.Seed(s.seed, uint64(key)),
	}
	_, err := l.head.Run(q.Relation, l.entities, 1, l.heads)
	return err
}
