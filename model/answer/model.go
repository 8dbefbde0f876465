package answer

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"tagnet/model/answer/explanation"
	"tagnet/model/answer/probability"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/inference"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/parallel"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Model is a trained model over a graph. Its workers are made on first use; until then its fields may be changed. It
// may be used concurrently. A model on a device must be closed.
type Model struct {
	// Opened is zero, but for what its user reads, unless Open, FromWeights or New made the model.
	Opened
	Graph         *graph.Graph
	Configuration configuration.Configuration
	Parameters    *parameters.Set[float32]
	// Relations are the edges between the graph's relations, or nil: the model makes them if it needs them.
	Relations *relations.Graph
	Resources Resources

	busy   parallel.Turn // held while a device ranks
	scorer Scorer        // on a device, or nil
	closed bool

	watch watch // of Watch

	making  sync.Mutex // held while what follows is made
	pool    *Pool
	explain *explanation.Explainer
	once    sync.Once // of Relations

	placed      placed
	judged      atomic.Pointer[Judged]                // of Judge
	fitted      atomic.Pointer[probability.Model]     // nil as long as there are no probabilities
	estimator   atomic.Pointer[probability.Estimator] // the last one made
	around      sync.Once                             // of surrounding
	surrounding *probability.Surroundings
}

// Resources are the kernel, threads and device that a model computes with.
type Resources struct {
	// Kernel and Threads serve the processor.
	Kernel  kernel.Kernel
	Threads int
	// Device takes the processor's place, unless it is nil. Where the processor takes over again, Announce, which may
	// be nil, is called with the text of Device, and package model calls it with its own notes.
	Device   Device
	Announce func(text string)
}

// Kept selects the results of queries that are kept beside the ranks of their labelled answers.
type Kept struct {
	// Selection selects the candidates to list, and their number.
	ranking.Selection
	// Done, which may be nil, is called with the number of rows that were scored since the last call.
	Done func(rows int)
}

// Answer scores queries and ranks their labelled answers. Concurrent calls share the threads' results (see Pool), or
// wait for a device. The processor takes over if an optional device cannot score the model, or its memory turns out to
// be too small.
func (m *Model) Answer(ctx context.Context, queries []Request, want Kept) (*Scored, error) {
	if want.Done == nil {
		want.Done = func(int) {}
	}
	scored, err := m.answerOnDevice(ctx, queries, &want)
	if scored != nil && err == nil && want.Ranks {
		err = m.rank(ctx, queries, scored)
	}
	if scored != nil || err != nil {
		return scored, err
	}
	pool, err := m.threads()
	if err != nil {
		return nil, err
	}
	return pool.Rank(ctx, queries, want.Selection, want.Done)
}

// threads returns the pool that ranks on the processor.
func (m *Model) threads() (*Pool, error) {
	m.making.Lock()
	defer m.making.Unlock()
	if m.pool != nil {
		return m.pool, nil
	}
	scorer, err := inference.New(m.Graph, m.between(), m.Configuration, m.Parameters, m.Resources.Kernel)
	if err == nil {
		m.pool = NewPool(m.Graph.Entities, m.Graph.RelationCount(), m.Resources.Threads, scorer.Group, func() Worker { return scorer.Worker() })
		m.pool.watch = &m.watch
	}
	return m.pool, err
}

// Watch sets a function that is called after each chunk of queries, computed together for one call or several, with
// their number and their time. The thread, or the device, waits for it.
func (m *Model) Watch(done func(queries int, took time.Duration)) { m.watch.Store(&done) }

// watch holds a function of Model.Watch, or none.
type watch struct {
	atomic.Pointer[func(queries int, took time.Duration)]
}

// say calls the function for a chunk that was begun at a time.
func (w *watch) say(queries int, begun time.Time) {
	if done := w.Load(); done != nil {
		(*done)(queries, time.Since(begun))
	}
}

// between returns the edges between the graph's relations, which scoring and explaining share.
func (m *Model) between() *relations.Graph {
	m.once.Do(func() {
		if m.Relations == nil {
			m.Relations = relations.Between(m.Graph, m.Configuration)
		}
	})
	return m.Relations
}

// Explain returns the score of an entity as the answer of a query, and the k best paths to it, as
// explanation.Worker does. The processor computes it, with one of the pool's threads. The first call takes memory
// for another copy of the weights.
func (m *Model) Explain(ctx context.Context, q graph.Query, entity int32, k int, walks bool) (explained explanation.Explanation, err error) {
	pool, err := m.threads()
	if err != nil {
		return explained, err
	}
	explainer, err := m.explainer()
	if err != nil {
		return explained, err
	}
	err = pool.use(ctx, func(t *thread) (err error) {
		worker := t.explain
		if t.explain = nil; worker == nil { // also after a panic, which leaves anything in its buffers
			worker = explainer.Worker()
		}
		explained, err = worker.Explain(ctx, q, entity, k, walks)
		t.explain = worker
		return err
	})
	return explained, err
}

// explainer returns the model's explainer, made once.
func (m *Model) explainer() (_ *explanation.Explainer, err error) {
	m.making.Lock()
	defer m.making.Unlock()
	if m.explain == nil {
		m.explain, err = explanation.New(m.Graph, m.between(), m.Configuration, m.Parameters, m.Resources.Kernel)
	}
	return m.explain, err
}
