package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
	"tagnet/model/propagation"
	"tagnet/model/search"
	stage "tagnet/stages/graph"
)

// bench is what a run needs, made before the clock starts.
type bench struct {
	options
	loaded        *stage.Loaded
	graph         *graph.Graph
	configuration configuration.Configuration
	kernel        kernel.Kernel
	parameters    *parameters.Set[float32]
}

func prepare(o options) (*bench, error) {
	b := &bench{options: o, configuration: configuration.Default()}
	c := &b.configuration
	c.Layers, c.Delta, c.Dim, c.Dependent = o.layers, o.delta, o.dim, o.dependent
	if err := c.Validate(); err != nil {
		return nil, usageError{err}
	}
	var err error
	if b.kernel, err = kernel.Named(o.kernel); err != nil {
		return nil, usageError{fmt.Errorf("--kernel: %w", err)}
	}
	if b.loaded, err = stage.Load(strings.TrimSuffix(o.workspace, "/") + "/graph"); err != nil {
		return nil, fmt.Errorf("%w: make it with go run ./pipelines/preprocess --workspace %s", err, o.workspace)
	}
	b.graph = b.loaded.Train.Graph
	if b.graph.Entities == 0 || b.graph.Edges() == 0 {
		return nil, fmt.Errorf("the graph of %s has no facts", o.workspace)
	}
	b.parameters = parameters.Initialize(parameters.Layout(*c, b.graph.RelationCount()), o.seed)
	return b, nil
}

// profiled measures, and writes a profile of that where one is wanted.
func (b *bench) profiled() (r result, err error) {
	if b.profile == "" {
		return b.measure()
	}
	f, err := os.Create(b.profile)
	if err != nil {
		return r, fmt.Errorf("--cpuprofile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return r, fmt.Errorf("--cpuprofile: %w", err)
	}
	r, err = b.measure()
	pprof.StopCPUProfile()
	if closing := f.Close(); err == nil && closing != nil {
		err = fmt.Errorf("--cpuprofile: %w", closing)
	}
	return r, err
}

func (b *bench) measure() (result, error) {
	return b.forward()
}

// question is a source and the relations that are asked of it.
type question struct {
	source    int32
	relations []int32
}

// questions draws sources uniformly from all entities.
func (b *bench) questions() []question {
	random := rand.New(rand.NewPCG(b.seed, 1))
	var out []question
	for left := b.queries; left > 0; {
		q := question{source: int32(random.IntN(b.graph.Entities))}
		for range min(b.perSource, left) {
			q.relations = append(q.relations, int32(random.IntN(b.graph.RelationCount())))
			left--
		}
		out = append(out, q)
	}
	return out
}

// forward times searches and propagations.
func (b *bench) forward() (result, error) {
	weights := propagation.NewWeights(b.graph, b.configuration, false)
	if err := weights.Load(b.parameters); err != nil {
		return result{}, err
	}
	questions := b.questions()
	var relations []int32
	for _, q := range questions {
		relations = append(relations, q.relations...)
	}
	weights.Embed(b.kernel, relations)
	first := propagation.New(b.graph, b.configuration, b.kernel)
	seats := make([]*seat, b.threads)
	for i := range seats {
		seats[i] = &seat{
			bench: b, weights: weights, propagator: first.Sibling(),
			searcher: search.NewSearcher(b.graph), distances: make([]uint8, b.graph.Entities),
		}
		seats[i].propagator.Measure(&seats[i].phases)
		if err := seats[i].answer(questions[i%len(questions)]); err != nil { // buffers grow before the clock starts
			return result{}, err
		}
		seats[i].reset()
	}
	var next atomic.Int64
	errs := make([]error, len(seats))
	var wait sync.WaitGroup
	begin := time.Now()
	for i, s := range seats {
		wait.Go(func() {
			for j := next.Add(1) - 1; j < int64(len(questions)) && errs[i] == nil; j = next.Add(1) - 1 {
				errs[i] = s.answer(questions[j])
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

// seat is one thread's buffers and what it measured.
type seat struct {
	*bench
	weights    *propagation.Weights
	propagator *propagation.Propagator
	searcher   *search.Searcher
	distances  []uint8

	phases            propagation.Phases
	searching         time.Duration
	messages, updates int64
}

func (s *seat) reset() {
	s.phases, s.searching, s.messages, s.updates = propagation.Phases{}, 0, 0, 0
}

func (s *seat) answer(q question) error {
	begin := time.Now()
	s.searcher.Search(q.source, s.configuration.Layers, graph.Removal{}, s.distances)
	s.searching += time.Since(begin)
	for _, relation := range q.relations {
		query := propagation.Query{Source: q.source, Relation: relation, Distances: s.distances}
		if err := s.propagator.Forward(s.weights, query); err != nil {
			return err
		}
		s.messages += s.propagator.Sent()
		s.updates += s.propagator.Updated()
	}
	return nil
}

func (b *bench) result(seats []*seat, total time.Duration) result {
	r := result{Queries: b.queries, Kernel: b.kernel.Name(), Threads: b.threads}
	n := float64(b.queries)
	perQuery := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) / n }
	for _, s := range seats {
		r.Messages += float64(s.messages) / n
		r.Updates += float64(s.updates) / n
		r.SearchMS += perQuery(s.searching + s.phases.Layout)
		r.MessagesMS += perQuery(s.phases.Messages)
		r.DenseMS += perQuery(s.phases.Dense)
	}
	r.TotalMS = perQuery(total)
	return r
}
