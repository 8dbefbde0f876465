package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"tagnet/formats/tables"
	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/head"
	"tagnet/model/optimizer"
	"tagnet/model/propagation"
	"tagnet/model/random"
)

// trainer computes losses and gradients in one worker. It implements the head's interface to the
// propagation.
type trainer struct {
	*propagation.Propagator
	worker       *worker
	query        propagation.Query
	known        tables.Answers
	entities     []int32 // the answer, then the negatives
	sampler      *optimizer.Sampler
	head         *head.Head[float32]
	propagations *propagation.Gradients
	heads        *head.Gradients[float32]
}

func newTrainer(ctx context.Context, w *worker) (*trainer, error) {
	c := w.configuration
	t := &trainer{
		Propagator: w.propagator, worker: w, entities: make([]int32, 1+c.Negatives),
		sampler:      optimizer.NewSampler(w.graph.Entities, c.StrictNegatives),
		propagations: propagation.NewGradients(c, w.graph.RelationCount()),
	}
	var err error
	if t.known, err = w.loaded.TrainAnswers(ctx); err != nil {
		return nil, err
	}
	if t.head, err = head.New(c, len(t.entities), w.parameters, head.Propagation[float32](t), head.Products[float32](w.kernel)); err != nil {
		return nil, err
	}
	t.heads = t.head.NewGradients()
	return t, nil
}

// Forward propagates the current query.
func (t *trainer) Forward() error {
	if err := t.Propagator.Forward(context.Background(), t.worker.weights, t.query); err != nil {
		return err
	}
	t.worker.count()
	return nil
}

// Backward propagates the gradient of the entities' states, and sets query to that of the query's
// embedding.
func (t *trainer) Backward(entities []int32, gradient, query []float32) error {
	if err := t.Propagator.Backward(entities, gradient, t.propagations); err != nil {
		return err
	}
	copy(query, t.propagations.Query)
	return nil
}

// measureTraining times search, forward pass, loss and backward pass of training queries.
func (b *bench) measureTraining(ctx context.Context) (result, error) {
	queries, err := b.drawTrainingQueries(ctx)
	if err != nil {
		return result{}, err
	}
	var relations []int32
	for _, q := range queries {
		relations = append(relations, q.Relation)
	}
	b.weights.Relations.Prepare(relations)
	workers := b.workers(len(queries))
	for _, w := range workers {
		if w.trainer, err = newTrainer(ctx, w); err != nil {
			return result{}, err
		}
	}
	return b.run(ctx, workers, len(queries), func(w *worker, i int) error { return w.trainer.learn(queries[i], i) })
}

// drawTrainingQueries draws training queries uniformly.
func (b *bench) drawTrainingQueries(ctx context.Context) ([]tables.Query, error) {
	all, err := b.loaded.Queries(ctx, "train")
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the training split of %s has no queries; use another --workspace", b.workspace)
	}
	random := rand.New(rand.NewPCG(b.seed, 2))
	out := make([]tables.Query, b.queries)
	for i := range out {
		out[i] = all[random.IntN(len(all))]
	}
	return out, nil
}

// learn computes the loss and the gradients of one query, with its fact's edges removed.
func (t *trainer) learn(q tables.Query, key int) error {
	w := t.worker
	removal := graph.Removal{
		Active: true, OneHop: w.configuration.Remove == configuration.RemoveOneHop,
		Source: q.Source, Answer: q.Answer, Relation: q.Relation, Inverse: w.graph.Inverse(q.Relation),
	}
	known := t.known.Of(q.Source, q.Relation)
	t.entities[0] = q.Answer
	if err := t.sampler.Draw(w.seed, uint64(key), q.Answer, known, t.entities[1:]); err != nil {
		return err
	}
	t.query = propagation.Query{
		Source: q.Source, Relation: q.Relation, Removal: removal,
		Candidates: t.entities, Training: true, ShareStates: w.configuration.ShareStates, Seed: random.Seed(w.seed, uint64(key)),
	}
	_, err := t.head.Run(q.Relation, t.entities, 1, t.heads)
	return err
}
