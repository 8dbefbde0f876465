package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"tagnet/model/learn/optimizer"
)

// measureTraining times search, forward pass, loss and backward pass of training queries.
func (b *bench) measureTraining(ctx context.Context) (result, error) {
	examples, err := b.drawExamples(ctx)
	if err != nil {
		return result{}, err
	}
	relations := make([]int32, len(examples))
	for i, e := range examples {
		relations[i] = e.Relation
	}
	trainer, err := optimizer.New(b.graph, nil, b.configuration, b.parameters, optimizer.NewSolver(b.configuration, b.graph.RelationCount(), b.kernel), min(b.threads, len(examples)), b.kernel)
	if err != nil {
		return result{}, err
	}
	var workers []*worker
	for _, single := range trainer.Singles(relations) {
		w := &worker{bench: b, propagator: single.Propagator(), single: single}
		w.propagator.Measure(&w.phases)
		workers = append(workers, w)
	}
	return b.run(ctx, workers, len(examples), func(w *worker, i int) error {
		err := w.single.Run(examples[i], w.seed)
		w.count()
		return err
	})
}

// drawExamples draws training queries uniformly.
func (b *bench) drawExamples(ctx context.Context) ([]optimizer.Example, error) {
	all, err := b.loaded.Queries(ctx, "train")
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the training split of %s has no queries; use another --workspace", b.workspace)
	}
	known, err := b.loaded.TrainAnswers(ctx)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(b.seed, 2))
	out := make([]optimizer.Example, b.queries)
	for i := range out {
		q := all[random.IntN(len(all))]
		out[i] = optimizer.Example{Query: q, Known: known.Of(q.Source, q.Relation), Key: uint64(i)}
	}
	return out, nil
}
