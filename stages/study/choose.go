package study

import (
	"context"
	"fmt"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/budget"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/propagation"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/study"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/stages/worker"
)

// queriesPropagated counts distinct queries as they are propagated.
var queriesPropagated = worker.NewCounter("messages", "queries_propagated")

// Model is a model of A*Net whose choices are counted.
type Model struct {
	// Checkpoints is the URL of a folder of checkpoints, Checkpoint the name of one of them.
	Checkpoints, Checkpoint string
	// Configuration is the checkpoint's; its policy is astar or window+astar.
	Configuration configuration.Configuration
}

func init() {
	beam.RegisterDoFn(&chooseFn{})
}

// chooseFn propagates each distinct query of a shard's sources and counts the edges that the model chooses.
type chooseFn struct {
	Params CountParams

	view        *kg.View
	weights     *propagation.Weights
	queries     []graph.Query // sorted by source and relation
	propagators sync.Pool     // of *propagation.Propagator
}

// Setup loads the graph, once per process, and the weights.
func (f *chooseFn) Setup(ctx context.Context) error {
	loaded, view, queries, err := f.Params.load(ctx)
	if err != nil {
		return err
	}
	f.view, f.queries = view, queries
	named := f.Params.Model
	m, err := worker.Model(ctx, checkpoint.Folder(named.Checkpoints), named.Checkpoint, loaded)
	if err != nil {
		return err
	}
	k, err := kernel.Named(f.Params.Kernel)
	if err != nil {
		return err
	}
	f.propagators.New = func() any { return propagation.New(f.view.Graph, m.Configuration, k) }
	f.weights = propagation.NewWeights(f.view.Graph, nil, m.Configuration, false)
	return f.weights.Load(k, m.Parameters)
}

// ProcessElement counts a shard of sources and writes its part.
func (f *chooseFn) ProcessElement(ctx context.Context, shard Shard, emit func(sums)) error {
	ctx, leave, err := worker.Enter(ctx, budget.Shards)
	if err != nil {
		return err
	}
	defer leave()
	params := f.Params.sweep(f.view.Graph, shard.Sources, f.Params.Model.Configuration.Layers)
	params.Gather = study.Gather{Levels: true}
	params.Words = 1 // propagating takes much longer than searching: small groups keep all threads busy
	var all []choice
	err = study.Sweep(ctx, params,
		func(r *study.Result) ([]choice, error) { return f.choose(ctx, r) },
		func(_ int32, choices []choice) error {
			all = append(all, choices...)
			return nil
		})
	if err != nil {
		return err
	}
	rows, total := f.Params.sumChoices(all, f.view.Entities)
	if err := parquet.Write(f.Params.Lock.Guard(ctx), f.Params.part(counts.AStarTable, shard), rows); err != nil {
		return err
	}
	emit(total)
	return nil
}

// choose propagates the distinct queries of one source.
func (f *chooseFn) choose(ctx context.Context, r *study.Result) ([]choice, error) {
	propagator := f.propagators.Get().(*propagation.Propagator)
	defer f.propagators.Put(propagator)
	layers := f.Params.Model.Configuration.Layers
	var all []choice
	// Queries with one relation have one propagation.
	queries := kg.OfSource(f.queries, r.Source)
	for from, to := 0, 0; from < len(queries); from = to {
		q := graph.Query{Source: r.Source, Relation: queries[from].Relation, Answer: graph.None}
		for to = from; to < len(queries) && queries[to].Relation == q.Relation; to++ {
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := propagator.Forward(ctx, f.weights, propagation.Request{Query: q})
		if err != nil {
			return nil, fmt.Errorf("propagating from %s: %w", f.view.Entities[r.Source], err)
		}
		// A*Net's choices, beside what a window of the same layer counts.
		counts := propagator.LayerCounts()
		if len(counts) != layers {
			return nil, fmt.Errorf("policy %s has no choices to count", f.Params.Model.Configuration.Policy)
		}
		for i, c := range counts {
			window := r.Levels.Layer(layers, i+1, 0) // empty messages do not depend on delta
			all = append(all, choice{
				Query: q, Queries: int64(to - from), Layer: int32(i + 1),
				Edges: window.Edges, AStar: c.AStar, Kept: c.Kept, Empty: window.KeptEmpty + window.PrunedEmpty,
			})
		}
		queriesPropagated.Inc(ctx, 1)
	}
	return all, nil
}
