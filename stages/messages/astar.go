package messages

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tagnet/formats/tables"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	modelgraph "tagnet/model/graph"
	"tagnet/model/kernel"
	"tagnet/model/kg"
	"tagnet/model/messages"
	"tagnet/model/propagation"
	"tagnet/model/search"
	"tagnet/stages/distances"
	"tagnet/stages/graph"
	"tagnet/stages/worker"
)

// questionsPropagated counts distinct questions as they are done.
var questionsPropagated = worker.NewCounter("messages", "questions_propagated")

// AStarParams says which model's choices are counted.
type AStarParams struct {
	// Graph is the URL of the graph/ folder, Split the one whose queries are asked.
	Graph, Split string
	// Checkpoints is the URL of a folder of checkpoints, Checkpoint the name of one.
	Checkpoints, Checkpoint string
	// Configuration is the checkpoint's; its policy is astar or window+astar.
	Configuration configuration.Configuration
	// Kernel names the variant of the kernels; "" chooses.
	Kernel string
	// Threads bounds the threads of a process; 0 is one a core, which are the most.
	Threads int
}

// chosen is what A*Net chose in a layer for the queries that share a source and a relation.
type chosen struct {
	// Source to Layer say where, Edges is the graph's; AStar is |A|, Kept those of it that the
	// window admits too, Empty the edges whose sender is not reached yet.
	Source, Relation, Queries, Layer, Edges, AStar, Kept, Empty int64
}

var chosenSchema = func() *arrow.Schema {
	var fields []arrow.Field
	for _, name := range []string{"source", "relation", "queries", "layer", "edges", "astar", "kept", "empty"} {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64})
	}
	return arrow.NewSchema(fields, nil)
}()

func (c *chosen) fields() []*int64 {
	return []*int64{&c.Source, &c.Relation, &c.Queries, &c.Layer, &c.Edges, &c.AStar, &c.Kept, &c.Empty}
}

func encodeChosen(rows []chosen) ([]byte, error) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, chosenSchema)
	defer b.Release()
	for _, r := range rows {
		for i, value := range r.fields() {
			b.Field(i).(*array.Int64Builder).Append(*value)
		}
	}
	record := b.NewRecord()
	defer record.Release()
	return tables.EncodeBatch(record)
}

func chosenOf(record arrow.Record) []chosen {
	rows := make([]chosen, record.NumRows())
	for i := range chosenSchema.NumFields() {
		values := record.Column(i).(*array.Int64).Int64Values()
		for j := range rows {
			*rows[j].fields()[i] = values[j]
		}
	}
	return rows
}

func init() {
	beam.RegisterDoFn(&chooseFn{})
}

// chooseFn propagates for each distinct question of a shard's sources and notes what was chosen.
// One element at a time is under way in a process, with a propagator for each thread.
type chooseFn struct {
	Params AStarParams

	loaded  *kg.KG
	graph   *modelgraph.Graph
	weights *propagation.Weights
	kernel  kernel.Kernel
	queries []tables.Query // sorted by (source, relation)
}

var choosing sync.Mutex

// Setup loads the graph, once per process, and the weights.
func (f *chooseFn) Setup(ctx context.Context) error {
	var err error
	if f.loaded, err = graph.Load(f.Params.Graph); err != nil {
		return err
	}
	f.graph = f.loaded.Of(f.Params.Split).Graph
	if f.queries, err = f.loaded.Queries(ctx, f.Params.Split); err != nil {
		return err
	}
	record, p, err := checkpoint.Folder(f.Params.Checkpoints).Model(ctx, f.Params.Checkpoint, f.loaded.Relations, f.loaded.Vocabulary)
	if err != nil {
		return err
	}
	if f.kernel, err = kernel.Named(f.Params.Kernel); err != nil {
		return err
	}
	f.weights = propagation.NewWeights(f.graph, record.Configuration, false)
	return f.weights.Load(f.kernel, p)
}

// question is the run of queries that share a source and a relation.
type question struct {
	source, relation int32
	queries          int64
}

func (f *chooseFn) questions(sources []int32) []question {
	var all []question
	for _, source := range sources {
		for _, q := range distances.QueriesOf(f.queries, source) {
			if n := len(all); n > 0 && all[n-1].source == source && all[n-1].relation == q.Relation {
				all[n-1].queries++
				continue
			}
			all = append(all, question{source, q.Relation, 1})
		}
	}
	return all
}

// ProcessElement counts a shard of sources.
func (f *chooseFn) ProcessElement(ctx context.Context, shard distances.Shard, emit func([]byte)) error {
	choosing.Lock()
	defer choosing.Unlock()
	questions := f.questions(shard.Sources)
	rows := make([][]chosen, len(questions))
	const stride = 16 // neighbours share a source and its search
	next := make(chan int)
	done := make(chan error)
	threads := min(runtime.GOMAXPROCS(0), (len(questions)+stride-1)/stride)
	if f.Params.Threads > 0 {
		threads = min(threads, f.Params.Threads)
	}
	for range threads {
		go func() {
			seat := newSeat(f)
			var err error
			for from := range next {
				for i := from; i < min(from+stride, len(questions)) && err == nil; i++ {
					rows[i], err = seat.choose(questions[i])
				}
			}
			done <- err
		}()
	}
	for from := 0; from < len(questions) && ctx.Err() == nil; from += stride {
		next <- from
		questionsPropagated.Inc(ctx, int64(min(stride, len(questions)-from)))
	}
	close(next)
	err := ctx.Err()
	for range threads {
		if e := <-done; err == nil {
			err = e
		}
	}
	if err != nil {
		return err
	}
	out, err := encodeChosen(slices.Concat(rows...))
	if err != nil {
		return err
	}
	emit(out)
	return nil
}

// seat is what one thread needs.
type seat struct {
	fn         *chooseFn
	propagator *propagation.Propagator
	searcher   *search.Searcher
	distances  []uint8
	source     int32
	levels     messages.Levels
}

func newSeat(f *chooseFn) *seat {
	return &seat{
		fn: f, propagator: propagation.New(f.graph, f.Params.Configuration, f.kernel),
		searcher: search.NewSearcher(f.graph), distances: make([]uint8, f.graph.Entities), source: -1,
	}
}

// choose propagates for one question.
func (s *seat) choose(q question) ([]chosen, error) {
	layers := s.fn.Params.Configuration.Layers
	if s.source != q.source {
		s.source = q.source
		s.searcher.Search(q.source, layers, modelgraph.Removal{}, s.distances)
		s.levels = messages.CountLevels(s.fn.graph, s.distances, layers)
	}
	err := s.propagator.Forward(s.fn.weights, propagation.Query{Source: q.source, Relation: q.relation})
	if err != nil {
		return nil, fmt.Errorf("propagating from %s: %w", s.fn.loaded.Of(s.fn.Params.Split).Entities[q.source], err)
	}
	counts := s.propagator.LayerCounts()
	if len(counts) != layers {
		return nil, fmt.Errorf("policy %s has no choices to count", s.fn.Params.Configuration.Policy)
	}
	rows := make([]chosen, layers)
	for i, c := range counts {
		window := s.levels.Layer(layers, i+1, 0) // what is empty does not depend on delta
		rows[i] = chosen{
			Source: int64(q.source), Relation: int64(q.relation), Queries: q.queries, Layer: int64(i + 1),
			Edges: window.Edges, AStar: c.AStar, Kept: c.Kept, Empty: window.KeptEmpty + window.PrunedEmpty,
		}
	}
	return rows, nil
}
