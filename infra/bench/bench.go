package main

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/kernel"
	"tagnet/model/kg"
	"tagnet/model/parameters"
	"tagnet/model/propagation"
	stage "tagnet/stages/graph"
)

// bench is what a run needs, made before the clock starts.
type bench struct {
	options
	loaded        *kg.KG
	graph         *graph.Graph
	configuration configuration.Configuration
	kernel        kernel.Kernel
	parameters    *parameters.Set[float32]
	weights       *propagation.Weights
}

// prepare loads the graph, and draws weights for a model of PNA and DistMult.
func prepare(o options) (*bench, error) {
	b := &bench{options: o, configuration: configuration.Default()}
	c := &b.configuration
	c.Layers, c.Delta, c.Dim, c.Dependent = o.layers, o.delta, o.dim, o.dependent
	if o.negatives > 0 {
		c.Negatives = o.negatives
	}
	if err := c.Validate(); err != nil {
		return nil, usageError{err}
	}
	var err error
	if b.kernel, err = kernel.Named(o.kernel); err != nil {
		if o.kernel != "" {
			err = fmt.Errorf("--kernel: %w", err)
		}
		return nil, usageError{err}
	}
	if b.loaded, err = stage.Load(strings.TrimSuffix(o.workspace, "/") + "/graph"); err != nil {
		return nil, fmt.Errorf("%w: make it with go run ./pipelines/preprocess --workspace %s", err, o.workspace)
	}
	b.graph = b.loaded.Train.Graph
	if b.graph.Entities == 0 || b.graph.Edges() == 0 {
		return nil, fmt.Errorf("the graph of %s has no facts", o.workspace)
	}
	b.parameters = parameters.Initialize(parameters.Layout(*c, b.graph.RelationCount()), o.seed)
	b.weights = propagation.NewWeights(b.graph, *c, o.train)
	return b, b.weights.Load(b.kernel, b.parameters)
}

// profiled measures, and writes a profile of that where one is wanted. None is left of a
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
	if b.train {
		return b.measureTraining(ctx)
	}
	return b.measureForward(ctx)
}

// seat is one thread's buffers and what it measured.
type seat struct {
	*bench
	propagator *propagation.Propagator
	lesson     *lesson // where the way back is timed too

	phases            propagation.Phases
	messages, updates int64
}

// seats are as many as there are threads, but no more than tasks to share.
func (b *bench) seats(tasks int) []*seat {
	first := propagation.New(b.graph, b.configuration, b.kernel)
	seats := make([]*seat, min(b.threads, tasks))
	for i := range seats {
		s := &seat{bench: b, propagator: first.Clone()}
		s.propagator.Measure(&s.phases)
		seats[i] = s
	}
	return seats
}

// count takes note of what the last propagation did.
func (s *seat) count() {
	s.messages += s.propagator.Sent()
	s.updates += s.propagator.Updated()
}

// run times count tasks, which the seats share. Each first does one that is not timed: its
// buffers grow.
func (b *bench) run(ctx context.Context, seats []*seat, count int, task func(s *seat, i int) error) (result, error) {
	for i, s := range seats {
		if err := task(s, i%count); err != nil {
			return result{}, err
		}
		s.phases, s.messages, s.updates = propagation.Phases{}, 0, 0
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	errs := make([]error, len(seats))
	begin := time.Now()
	for i, s := range seats {
		wait.Go(func() {
			for j := int(next.Add(1)) - 1; j < count && errs[i] == nil; j = int(next.Add(1)) - 1 {
				if errs[i] = ctx.Err(); errs[i] == nil {
					errs[i] = task(s, j)
				}
			}
		})
	}
	wait.Wait()
	total := time.Since(begin)
	for _, err := range errs {
		if err != nil {
			return result{}, err
		}
	}
	return b.result(seats, total), nil
}

func (b *bench) result(seats []*seat, total time.Duration) result {
	r := result{Queries: b.queries, Kernel: b.kernel.Name(), Threads: len(seats)}
	n := float64(b.queries)
	perQuery := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) / n }
	for _, s := range seats {
		r.Messages += float64(s.messages) / n
		r.Updates += float64(s.updates) / n
		r.copied += float64(s.phases.Copied) / n
		r.spared += float64(s.phases.Spared) / n
		r.SearchMS += perQuery(s.phases.Layout)
		r.MessagesMS += perQuery(s.phases.Messages)
		r.DenseMS += perQuery(s.phases.Dense)
	}
	r.TotalMS = perQuery(total)
	return r
}
