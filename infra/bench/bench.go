package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"tagnet/infra/internal/program"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/propagation"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/learn/optimizer"
	"tagnet/model/parallel"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
	stage "tagnet/stages/preprocess"
)

// seed is that of the weights and the queries.
const seed = 1

// bench has everything that is prepared before the clock starts.
type bench struct {
	options
	loaded        *kg.KG
	graph         *graph.Graph
	configuration configuration.Configuration
	kernel        kernel.Kernel
	parameters    *parameters.Set[float32]
	weights       *propagation.Weights
}

// prepare loads the graph and draws the weights.
func prepare(ctx context.Context, o options) (b *bench, err error) {
	b = &bench{options: o, configuration: configuration.Default()}
	if o.preset != "" {
		if b.configuration, err = configuration.OpenPreset(ctx, o.preset); err != nil {
			return nil, program.Usage("--preset: %w", err)
		}
	}
	for _, set := range o.given {
		if err := set(&b.configuration); err != nil {
			return nil, err
		}
	}
	if err := b.configuration.Validate(); err != nil {
		return nil, program.Usage("%w", err)
	}
	if b.kernel, err = kernel.Named(""); err != nil {
		return nil, program.Usage("%w", err)
	}
	if b.loaded, err = stage.Load(ctx, filepath.Join(o.workspace, kg.Folder)); err != nil {
		return nil, fmt.Errorf("%w; make it with go run ./pipelines/preprocess --workspace %s", err, o.workspace)
	}
	if b.graph = b.loaded.Train.Graph; b.graph.Entities == 0 || b.graph.Edges() == 0 {
		return nil, fmt.Errorf("the graph of %s has no facts; use another --workspace", o.workspace)
	}
	b.parameters = parameters.Initialize(parameters.Layout(b.configuration, b.graph.RelationCount()), seed)
	b.weights = propagation.NewWeights(b.graph, nil, b.configuration, false)
	return b, b.weights.Load(b.kernel, b.parameters)
}

// worker has one thread's buffers and measurements.
type worker struct {
	*bench
	propagator *propagation.Propagator
	single     *optimizer.Single // nil without --train

	phases            propagation.Phases
	messages, updates int64
}

// count adds the counts of the last propagation.
func (w *worker) count() {
	w.messages += w.propagator.Sent()
	w.updates += w.propagator.Updated()
}

func (b *bench) measure(ctx context.Context) (result, error) {
	if b.train {
		return b.measureTraining(ctx)
	}
	return b.measureForward(ctx)
}

// measureForward times propagations with their searches, of sources that are drawn uniformly from all entities.
func (b *bench) measureForward(ctx context.Context) (result, error) {
	random := rand.New(rand.NewPCG(seed, 1))
	var sources []int32
	var relations [][]int32 // of each source
	var all []int32
	for left := b.queries; left > 0; left -= b.perSource {
		sources, relations = append(sources, int32(random.IntN(b.graph.Entities))), append(relations, nil)
		for range min(b.perSource, left) {
			relation := int32(random.IntN(b.graph.RelationCount()))
			relations[len(sources)-1], all = append(relations[len(sources)-1], relation), append(all, relation)
		}
	}
	b.weights.Relations.Prepare(all)
	first := propagation.New(b.graph, b.configuration, b.kernel)
	workers := make([]*worker, min(b.threads, len(sources)))
	for i := range workers {
		workers[i] = &worker{bench: b, propagator: first.Clone()}
	}
	return b.run(ctx, workers, len(sources), func(w *worker, i int) error {
		query := graph.Query{Source: sources[i], Answer: graph.None}
		for rest := relations[i]; len(rest) > 0; { // as many at a time as is fastest
			batch := rest[:min(w.propagator.MaxLanes(), len(rest))]
			rest = rest[len(batch):]
			if err := w.propagator.ForwardBatch(ctx, w.weights, propagation.Request{Query: query}, batch); err != nil {
				return err
			}
			w.count()
		}
		return nil
	})
}

// measureTraining times search, forward pass, loss and backward pass of the first queries of a training.
func (b *bench) measureTraining(ctx context.Context) (result, error) {
	examples, err := b.examples(ctx)
	if err != nil {
		return result{}, err
	}
	relations := make([]int32, len(examples))
	for i, e := range examples {
		relations[i] = e.Relation
	}
	solver := optimizer.NewSolver(b.configuration, b.graph.RelationCount(), b.kernel)
	trainer, err := optimizer.New(b.graph, nil, b.configuration, b.parameters, solver, min(b.threads, len(examples)), b.kernel)
	if err != nil {
		return result{}, err
	}
	var workers []*worker
	for _, single := range trainer.Singles(relations) {
		workers = append(workers, &worker{bench: b, propagator: single.Propagator(), single: single})
	}
	return b.run(ctx, workers, len(examples), func(w *worker, i int) error {
		err := w.single.Run(examples[i], seed)
		w.count()
		return err
	})
}

// examples returns the first queries of a training, each of as many answers as it has there.
func (b *bench) examples(ctx context.Context) (examples []optimizer.Example, err error) {
	set, err := optimizer.NewTrainingSet(ctx, b.loaded)
	if err != nil {
		return nil, fmt.Errorf("%w; use another --workspace", err)
	}
	keys := set.Keys(b.configuration)
	for epoch := 1; ; epoch++ {
		for _, batch := range optimizer.Schedule(keys, b.configuration, seed, epoch) {
			drawn, err := set.Examples(batch, seed, epoch, nil)
			if err != nil {
				return nil, err
			}
			if examples = append(examples, drawn...); len(examples) >= b.queries {
				return examples[:b.queries], nil
			}
		}
	}
}

// run times count tasks on the workers. Each worker first does one task that is not timed, in
// which its buffers grow.
func (b *bench) run(ctx context.Context, workers []*worker, count int, task func(w *worker, i int) error) (result, error) {
	for i, w := range workers {
		w.propagator.Measure(&w.phases)
		if err := task(w, i%count); err != nil {
			return result{}, err
		}
		w.phases, w.messages, w.updates = propagation.Phases{}, 0, 0
	}
	begin := time.Now()
	err := parallel.Try(ctx, len(workers), count, func(_ context.Context, w, i int) error { return task(workers[w], i) })
	if err != nil {
		return result{}, err
	}
	n := float64(b.queries)
	perQuery := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) / n }
	r := result{Queries: b.queries, Kernel: b.kernel.Name(), Threads: len(workers), TotalMS: perQuery(time.Since(begin))}
	for _, w := range workers {
		r.Messages += float64(w.messages) / n
		r.Updates += float64(w.updates) / n
		r.SearchMS += perQuery(w.phases.Layout)
		r.MessagesMS += perQuery(w.phases.Messages)
		r.DenseMS += perQuery(w.phases.Dense)
	}
	return r, nil
}
