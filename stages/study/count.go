package study

import (
	"context"
	"slices"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/budget"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/study"
	"tagnet/model/weights/configuration"
	"tagnet/stages/worker"
)

// sourcesCounted counts sources as they are done.
var sourcesCounted = worker.NewCounter("messages", "sources_counted")

// CountParams are the parameters of Count. The messages of the split's queries are counted.
type CountParams struct {
	Params
	// Layers, each from 1 to configuration.MaxLayers, and Deltas, each 0 or more, are combined: every
	// number of layers is counted with every delta.
	Layers, Deltas []int
	// Remove selects the edges that are removed from the graph of each query:
	// configuration.RemoveNone, or for training queries RemoveTriple or RemoveOneHop.
	Remove string
	// Reach is configuration.Configuration.Reach of the propagation, which counts messages through a part of the graph;
	// 0 is all. An edge with an end outside of the part counts as empty.
	Reach int
	// Model, if not nil, is the model whose choices are counted too.
	Model *Model
}

// Count counts the messages of a split's queries. Input: Shard, all shards of the sources, each of SourcesPerShard.
// Output: the URL of summary.json, the last file written. The worker that counts a shard writes its part of each table;
// only sums cross a barrier. A worker holds the graph, a search for each thread, the rows of two shards and, with a
// removal, a study.Corrector. See budget.Search.
func Count(s beam.Scope, shards beam.PCollection, p CountParams) beam.PCollection {
	s = s.Scope("study.Count")
	shards = beam.Reshuffle(s, shards)
	counted := beam.ParDo(s, &countFn{Params: p}, shards)
	if p.Model != nil {
		counted = beam.Flatten(s, counted, beam.ParDo(s, &chooseFn{Params: p}, shards))
	}
	return beam.ParDo(s, &writeFn{Params: p}, beam.Combine(s, &mergeFn{}, counted))
}

func init() { beam.RegisterDoFn(&countFn{}) }

// countFn counts the levels of each source's queries.
type countFn struct {
	Params CountParams

	graph    *graph.Graph
	entities []string      // names
	queries  []graph.Query // sorted by source
	trainers sync.Pool     // of *trainer
}

// Setup loads the graph, once per process.
func (f *countFn) Setup(ctx context.Context) error {
	budget.Limit(f.Params.Memory) // for the life of the worker process
	_, view, queries, err := f.Params.load(ctx)
	if err != nil {
		return err
	}
	f.graph, f.entities, f.queries = view.Graph, view.Entities, queries
	f.trainers.New = func() any { return &trainer{corrector: study.NewCorrector(f.graph)} }
	return nil
}

// ProcessElement counts a shard of sources and writes its part.
func (f *countFn) ProcessElement(ctx context.Context, shard Shard, emit func(sums)) error {
	ctx, leave, err := worker.Enter(ctx, budget.Shards)
	if err != nil {
		return err
	}
	defer leave()
	count := f.countWhole
	if f.Params.Reach > 0 {
		count = f.countWithin
	}
	all, err := count(ctx, shard.Sources)
	if err != nil {
		return err
	}
	rows, total := f.Params.sum(all, f.entities)
	if err := parquet.Write(f.Params.Lock.Guard(ctx), f.Params.part(counts.CountsTable, shard), rows); err != nil {
		return err
	}
	emit(total)
	return nil
}

// countWhole counts the queries of sources in the whole graph.
func (f *countFn) countWhole(ctx context.Context, sources []int32) (all []sourceCounts, err error) {
	params := f.Params.sweep(f.graph, sources, slices.Max(f.Params.Layers))
	params.Gather = study.Gather{Levels: true, Distances: f.Params.removes()}
	err = study.Sweep(ctx, params, f.count, func(_ int32, counts sourceCounts) error {
		all = append(all, counts)
		sourcesCounted.Inc(ctx, 1)
		return nil
	})
	return all, err
}

func (f *countFn) count(r *study.Result) (sourceCounts, error) {
	if f.Params.removes() {
		return f.countTraining(r), nil
	}
	return sourceCounts{Source: r.Source, Queries: int64(len(kg.OfSource(f.queries, r.Source))), Levels: r.Levels}, nil
}

// SourcesPerShard returns how many sources a shard has, given the entities and edges of the graph: as many as their
// work suggests, and no more than their rows allow.
func (p CountParams) SourcesPerShard(entities int, edges int64) int {
	return max(1, min(SourcesPerShard(entities, edges), maxRows/p.RowsPerSource()))
}

// RowsPerSource returns how many rows of the counts a source has.
func (p CountParams) RowsPerSource() int {
	rows := 0
	for _, layers := range p.Layers {
		rows += layers * len(p.Deltas)
	}
	return rows
}

// removes reports whether edges are removed for each query.
func (p CountParams) removes() bool { return p.Remove != configuration.RemoveNone }

// sourceCounts counts the messages of a source's queries. Their levels are equal, and Levels counts
// one query, unless each query has a graph of its own because edges are removed from it: then Levels
// is the sum over the queries.
type sourceCounts struct {
	Source  int32
	Queries int64
	Levels  study.Levels
	// Parts takes the place of Levels where each query has a part of the graph: one for each number of layers.
	Parts []study.Levels
}

// levels returns the levels for the number of layers at an index of Params.Layers.
func (c sourceCounts) levels(i int) study.Levels {
	if c.Parts != nil {
		return c.Parts[i]
	}
	return c.Levels
}

// choice counts the messages that A*Net chooses in one layer for the queries that share a source and a relation.
type choice struct {
	graph.Query
	Queries int64
	Layer   int32 // from 1
	// Edges is the number of edges of the graph, AStar the number of those that A*Net chooses, and
	// Kept how many of the chosen ones the window admits too.
	Edges, AStar, Kept int64
	// Empty is the number of edges whose sender is not reached yet.
	Empty int64
}
