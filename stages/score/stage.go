package score

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/model/budget"
	"tagnet/model/checkpoint"
	"tagnet/model/inference"
	"tagnet/model/kernel"
	"tagnet/model/kg"
	"tagnet/stages/bundle"
	"tagnet/stages/graph"
	"tagnet/stages/worker"
)

func init() {
	beam.RegisterDoFn(&scoreFn{})
}

// QueriesCounter is the counter of the queries that are scored.
const QueriesCounter = "scored_queries"

var (
	scoredQueries   = worker.NewCounter("score", QueriesCounter)
	scoredQuestions = beam.NewCounter("score", "scored_questions")
	sentMessages    = beam.NewCounter("score", "sent_messages")
)

// Params say what scores.
type Params struct {
	// Graph is the URL of the graph's folder, Split the split that is asked. Required.
	Graph, Split string
	// Checkpoints is the URL of the folder of checkpoints, Checkpoint the name of one. Required.
	Checkpoints, Checkpoint string
	// Best is how many candidates are kept for each question.
	Best int
	// Threads is the number of threads of a worker; if 0 one a core, MostThreads at most (unless
	// that is 0). It changes no result.
	Threads, MostThreads int
	// Memory is the budget of a worker's process in bytes, to which it holds its garbage; 0 for
	// none.
	Memory int64
	// Kernel names the variant of the kernels; see kernel.Named.
	Kernel string
}

// Score scores bundles: PCollection<[]byte> as bundle.Bundles makes them, to
// PCollection<KV<int, []byte>> of encoded Scored, all with the same key. A worker scores one
// bundle at a time, with all of its threads.
func Score(s beam.Scope, p Params, bundles beam.PCollection) beam.PCollection {
	s = s.Scope("score.Score")
	return beam.ParDo(s, &scoreFn{Params: p}, bundles)
}

type scoreFn struct{ Params Params }

// ProcessElement scores one bundle.
func (f *scoreFn) ProcessElement(ctx context.Context, data []byte, emit func(int, []byte)) error {
	b, err := bundle.Decode(data)
	if err != nil {
		return err
	}
	engine.Lock()
	defer engine.Unlock()
	ranker, err := rankerOf(ctx, f.Params)
	if err != nil {
		return err
	}
	var counting sync.Mutex
	scored, err := ranker.Rank(ctx, b, func(queries int) {
		counting.Lock()
		defer counting.Unlock()
		scoredQueries.Inc(ctx, int64(queries))
	})
	if err != nil {
		return fmt.Errorf("%s of %s: %w", f.Params.Checkpoint, f.Params.Checkpoints, err)
	}
	scoredQuestions.Inc(ctx, b.Questions())
	sentMessages.Inc(ctx, scored.Messages)
	out, err := scored.Encode()
	if err != nil {
		return err
	}
	emit(0, out)
	return nil
}

// engine is the process's model and its threads, for the parameters that were last asked for:
// however many bundles the runner starts, one is scored at a time.
var engine struct {
	sync.Mutex
	params Params
	record checkpoint.Record
	graph  *kg.KG
	ranker *Ranker
}

// rankerOf returns the engine's ranker, made anew for other parameters, graphs or weights.
func rankerOf(ctx context.Context, p Params) (*Ranker, error) {
	loaded, err := graph.Load(p.Graph)
	if err != nil {
		return nil, err
	}
	folder := checkpoint.Folder(p.Checkpoints)
	record, err := folder.Record(ctx, p.Checkpoint)
	if err != nil {
		return nil, err
	}
	if engine.ranker != nil && engine.params == p && engine.graph == loaded && engine.record.Weights == record.Weights {
		return engine.ranker, nil
	}
	if p.Memory > 0 {
		budget.Limit(p.Memory) // as long as the process lives, which is the engine's
	}
	engine.ranker = nil
	ranker, err := newRanker(ctx, p, loaded)
	if err != nil {
		return nil, err
	}
	engine.params, engine.graph, engine.record, engine.ranker = p, loaded, record, ranker
	return ranker, nil
}

// threads is the number of threads of this worker.
func (p Params) threads() int {
	switch cores := runtime.GOMAXPROCS(0); {
	case p.Threads > 0:
		return p.Threads
	case p.MostThreads > 0:
		return min(cores, p.MostThreads)
	default:
		return cores
	}
}

func newRanker(ctx context.Context, p Params, loaded *kg.KG) (*Ranker, error) {
	record, weights, err := checkpoint.Folder(p.Checkpoints).Model(ctx, p.Checkpoint, loaded.Relations, loaded.Vocabulary)
	if err != nil {
		return nil, err
	}
	k, err := kernel.Named(p.Kernel)
	if err != nil {
		return nil, err
	}
	asked := loaded.Of(p.Split).Graph
	scorer, err := inference.New(asked, record.Configuration, weights, k)
	if err != nil {
		return nil, err
	}
	workers := make([]Worker, p.threads())
	for i := range workers {
		workers[i] = scorer.Worker()
	}
	return NewRanker(asked.Entities, asked.RelationCount(), p.Best, workers)
}
