package messages

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/tables"
	"tagnet/model/budget"
	"tagnet/model/configuration"
	modelgraph "tagnet/model/graph"
	"tagnet/model/messages"
	"tagnet/model/multisource"
	"tagnet/stages/distances"
	"tagnet/stages/graph"
	"tagnet/stages/worker"
)

// sourcesCounted counts sources as they are done.
var sourcesCounted = worker.NewCounter("messages", "sources_counted")

// CountParams says what is counted and where the results go.
type CountParams struct {
	// Graph is the URL of the graph/ folder, which workers load.
	Graph string
	// Split is the one whose queries are asked.
	Split string
	// Layers and Deltas are the numbers of layers and the deltas, each with each. Layers are
	// 1 to configuration.MaxLayers.
	Layers, Deltas []int
	// Remove is what leaves the graph of each query: none, or for training queries triple or
	// one_hop (configuration.RemoveNone, ...).
	Remove string
	// Folder is the URL of the folder that takes the results.
	Folder string
	// AStar is the model whose choices are counted too; nil for none.
	AStar *AStarParams
	// Kernel names the variant of the kernels that search; see kernel.Named. It changes no result.
	Kernel string
	// Threads bounds the threads of a process, which are as many as it has cores at most; 0 is no
	// other bound.
	Threads int
	// Words bounds how many words of 64 sources a thread searches from at once; see
	// distances.SweepParams.
	Words int
	// Memory is the budget of a worker process in bytes, for its garbage collector; 0 is none.
	Memory int64
}

// Count counts the messages of a split's queries. Input: sources as distances.Shard.Encode
// makes them. Output: the URL of summary.json, the last file written. A worker holds the
// graph, for each thread a search and, with a removal, a messages.Corrector, and at the end all rows
// of messages.parquet; see budget.Count.
func Count(s beam.Scope, shards beam.PCollection, p CountParams) beam.PCollection {
	s = s.Scope("messages.Count")
	shards = beam.Reshuffle(s, shards)
	counted := beam.ParDo(s, &countFn{Params: p}, shards)
	if p.AStar != nil {
		counted = beam.Flatten(s, counted, beam.ParDo(s, &chooseFn{Params: *p.AStar}, shards))
	}
	return beam.ParDo(s, &writeFn{Params: p}, beam.GroupByKey(s, beam.AddFixedKey(s, counted)))
}

func init() {
	beam.RegisterDoFn(&countFn{})
	beam.RegisterDoFn(&writeFn{})
}

// countFn gathers the levels of each source's queries.
type countFn struct {
	Params CountParams

	graph    *modelgraph.Graph
	queries  []tables.Query // sorted by source
	trainers sync.Pool      // of *trainer
}

// Setup loads the graph, once per process.
func (f *countFn) Setup(ctx context.Context) error {
	if err := f.Params.check(); err != nil {
		return err
	}
	if f.Params.Memory > 0 {
		budget.Limit(f.Params.Memory) // as long as the process lives, which is the worker's
	}
	loaded, err := graph.Load(f.Params.Graph)
	if err != nil {
		return err
	}
	f.graph = loaded.Of(f.Params.Split).Graph
	f.trainers.New = func() any { return &trainer{corrector: messages.NewCorrector(f.graph)} }
	f.queries, err = loaded.Queries(ctx, f.Params.Split)
	return err
}

// ProcessElement counts a shard of sources.
func (f *countFn) ProcessElement(ctx context.Context, shard distances.Shard, emit func([]byte)) error {
	params := distances.SweepParams{
		Graph: f.graph, Sources: shard.Sources, Hops: slices.Max(f.Params.Layers), Kernel: f.Params.Kernel,
		Gather: f.Params.gather(), Threads: f.Params.Threads, Words: f.Params.Words,
	}
	var all []Counted
	err := distances.Sweep(ctx, params, f.count, func(_ int32, row Counted) error {
		all = append(all, row)
		sourcesCounted.Inc(ctx, 1)
		return nil
	})
	if err != nil {
		return err
	}
	out, err := encodeCounted(all)
	if err != nil {
		return err
	}
	emit(out)
	return nil
}

// count counts the queries of one source, whose levels are those of the whole graph.
func (f *countFn) count(s *distances.Result) (Counted, error) {
	if f.Params.Remove != configuration.RemoveNone {
		return f.countTraining(s.Source, s.Distances(), s.Levels), nil
	}
	return Counted{s.Source, int64(len(distances.QueriesOf(f.queries, s.Source))), s.Levels}, nil
}

// RowsPerSource is how many rows of messages.parquet a source has.
func (p CountParams) RowsPerSource() int {
	rows := 0
	for _, layers := range p.Layers {
		rows += layers * len(p.Deltas)
	}
	return rows
}

// gather is what is gathered of each search.
func (p CountParams) gather() multisource.Gather {
	return multisource.Gather{Levels: true, Distances: p.Remove != configuration.RemoveNone}
}

// check returns an error for parameters that cannot be counted.
func (p CountParams) check() error {
	if len(p.Layers) == 0 || len(p.Deltas) == 0 {
		return fmt.Errorf("%d numbers of layers and %d deltas: want at least one of each", len(p.Layers), len(p.Deltas))
	}
	for _, layers := range p.Layers {
		if layers < 1 || layers > configuration.MaxLayers {
			return fmt.Errorf("layers is %d: want 1 to %d", layers, configuration.MaxLayers)
		}
	}
	for _, delta := range p.Deltas {
		if delta < 0 {
			return fmt.Errorf("delta is %d: want 0 or more", delta)
		}
	}
	return nil
}
