package main

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"strings"
	"time"

	"tagnet/infra/internal/program"
	"tagnet/model/engine/accelerator"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/parallel"
	"tagnet/model/engine/propagation"
	"tagnet/model/gpu"
	"tagnet/model/gpu/cuda"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/learn/optimizer"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
	stage "tagnet/stages/preprocess"
)

func init() { accelerator.Register(gpu.Driver(cuda.Open)) } // the devices of --device

// bench has everything that is prepared before the clock starts.
type bench struct {
	options
	loaded        *kg.KG
	graph         *graph.Graph
	configuration configuration.Configuration
	kernel        kernel.Kernel
	parameters    *parameters.Set[float32]
	weights       *propagation.Weights
	selected      accelerator.Selection // of --device
}

// configure returns the configuration that the flags ask for: the preset's, or a window with PNA and
// DistMult.
func (o options) configure() (configuration.Configuration, error) {
	c := configuration.Default()
	if o.preset != "" {
		var err error
		if c, err = configuration.Preset(o.preset); err != nil {
			return c, program.Usage("--preset: %w", err)
		}
	}
	for _, x := range []struct {
		name  string
		apply func()
	}{
		{"layers", func() { c.Layers = o.layers }},
		{"delta", func() { c.Delta = o.delta }},
		{"dim", func() { c.Dim = o.dim }},
		{"dependent", func() { c.Dependent = o.dependent }},
	} {
		if o.preset == "" || o.given[x.name] {
			x.apply()
		}
	}
	if o.policy != "" {
		c.Policy = o.policy
	}
	if o.given["share_states"] {
		c.ShareStates = o.shareStates
	}
	if o.negatives > 0 {
		c.Negatives = o.negatives
	}
	if err := c.Validate(); err != nil {
		return c, program.Usage("%w", err)
	}
	return c, nil
}

// prepare loads the graph and draws the weights.
func prepare(ctx context.Context, o options) (*bench, error) {
	b := &bench{options: o}
	c := &b.configuration
	var err error
	if *c, err = o.configure(); err != nil {
		return nil, err
	}
	if b.kernel, err = kernel.Named(o.kernel); err != nil {
		if o.kernel != "" {
			err = fmt.Errorf("--kernel: %w", err)
		}
		return nil, program.Usage("%w", err)
	}
	if b.selected, err = accelerator.Select(accelerator.Process, o.device, *c); err != nil {
		return nil, fmt.Errorf("--device %v: %w", o.device, err)
	}
	if b.loaded, err = stage.Load(ctx, strings.TrimSuffix(o.workspace, "/")+"/graph"); err != nil {
		return nil, fmt.Errorf("%w; make it with go run ./pipelines/preprocess --workspace %s", err, o.workspace)
	}
	b.graph = b.loaded.Train.Graph
	if b.graph.Entities == 0 || b.graph.Edges() == 0 {
		return nil, fmt.Errorf("the graph of %s has no facts; use another --workspace", o.workspace)
	}
	b.parameters = parameters.Initialize(parameters.Layout(*c, b.graph.RelationCount()), o.seed)
	b.weights = propagation.NewWeights(b.graph, nil, *c, false)
	return b, b.weights.Load(b.kernel, b.parameters)
}

// profiled measures, and writes a CPU profile if one is requested. It removes the profile of a
// measurement that failed.
func (b *bench) profiled(ctx context.Context) (r result, err error) {
	if b.profile == "" {
		return b.measure(ctx)
	}
	f, err := os.Create(b.profile)
	if err != nil {
		return r, fmt.Errorf("--cpuprofile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return r, fmt.Errorf("--cpuprofile: %w", err)
	}
	r, err = b.measure(ctx)
	pprof.StopCPUProfile()
	if closing := f.Close(); err == nil && closing != nil {
		err = fmt.Errorf("--cpuprofile: %w", closing)
	}
	if err != nil {
		_ = os.Remove(b.profile)
	}
	return r, err
}

func (b *bench) measure(ctx context.Context) (result, error) {
	if a := b.selected.Accelerator(); a != nil {
		return b.measureOn(ctx, a)
	}
	if b.train {
		return b.measureTraining(ctx)
	}
	return b.measureForward(ctx)
}

// worker has one thread's buffers and measurements.
type worker struct {
	*bench
	propagator *propagation.Propagator
	single     *optimizer.Single // nil without --train

	phases            propagation.Phases
	messages, updates int64
}

// workers returns one worker per thread, but no more than tasks.
func (b *bench) workers(tasks int) []*worker {
	first := propagation.New(b.graph, b.configuration, b.kernel)
	workers := make([]*worker, min(b.threads, tasks))
	for i := range workers {
		w := &worker{bench: b, propagator: first.Clone()}
		w.propagator.Measure(&w.phases)
		workers[i] = w
	}
	return workers
}

// count adds the counts of the last propagation.
func (w *worker) count() {
	w.messages += w.propagator.Sent()
	w.updates += w.propagator.Updated()
}

// run times count tasks on the workers. Each worker first does one task that is not timed, in
// which its buffers grow.
func (b *bench) run(ctx context.Context, workers []*worker, count int, task func(w *worker, i int) error) (result, error) {
	for i, w := range workers {
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
	return b.result(workers, time.Since(begin)), nil
}

func (b *bench) result(workers []*worker, total time.Duration) result {
	r := result{Queries: b.queries, Kernel: b.kernel.Name(), Threads: len(workers)}
	n := float64(b.queries)
	perQuery := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) / n }
	for _, w := range workers {
		r.Messages += float64(w.messages) / n
		r.Updates += float64(w.updates) / n
		r.SearchMS += perQuery(w.phases.Layout)
		r.MessagesMS += perQuery(w.phases.Messages)
		r.DenseMS += perQuery(w.phases.Dense)
	}
	r.TotalMS = perQuery(total)
	return r
}
