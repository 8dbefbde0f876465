package main

import (
	"context"
	"math/rand/v2"

	"tagnet/model/engine/propagation"
	"tagnet/model/graph"
)

// sourceQueries are queries that share a source.
type sourceQueries struct {
	graph.Query // whose relation does not count
	relations   []int32
}

// drawQueries draws sources uniformly from all entities, and returns the relations of all queries
// too.
func (b *bench) drawQueries() (out []sourceQueries, relations []int32) {
	random := rand.New(rand.NewPCG(b.seed, 1))
	for left := b.queries; left > 0; {
		q := sourceQueries{Query: graph.Query{Source: int32(random.IntN(b.graph.Entities)), Answer: graph.None}}
		for range min(b.perSource, left) {
			q.relations = append(q.relations, int32(random.IntN(b.graph.RelationCount())))
			left--
		}
		out, relations = append(out, q), append(relations, q.relations...)
	}
	return out, relations
}

// measureForward times propagations with their searches.
func (b *bench) measureForward(ctx context.Context) (result, error) {
	queries, relations := b.drawQueries()
	b.weights.Relations.Prepare(relations)
	return b.run(ctx, b.workers(len(queries)), len(queries), func(w *worker, i int) error { return w.propagate(ctx, queries[i]) })
}

// propagate propagates all queries of a source, as many at a time as is fastest.
func (w *worker) propagate(ctx context.Context, q sourceQueries) error {
	for rest := q.relations; len(rest) > 0; {
		batch := rest[:min(w.propagator.MaxLanes(), len(rest))]
		rest = rest[len(batch):]
		if err := w.propagator.ForwardBatch(ctx, w.weights, propagation.Request{Query: q.Query}, batch); err != nil {
			return err
		}
		w.count()
	}
	return nil
}
