package optimizer

import (
	"fmt"

	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/head"
	"tagnet/model/propagation"
	"tagnet/model/random"
)

// worker computes one query at a time, with buffers of its own. It implements head.Propagation for
// its head.
type worker struct {
	trainer    *Trainer
	propagator *propagation.Propagator
	sampler    *Sampler
	head       *head.Head[float32]

	entities  []int32 // the answer, then the negatives
	query     propagation.Query
	gradients *propagation.Gradients // the current query's
}

func newWorker(t *Trainer, propagator *propagation.Propagator) (*worker, error) {
	c := t.configuration
	w := &worker{
		trainer:    t,
		propagator: propagator,
		sampler:    NewSampler(t.graph.Entities, c.StrictNegatives),
		entities:   make([]int32, 1+c.Negatives),
	}
	var err error
	w.head, err = head.New(c, len(w.entities), t.parameters, head.Propagation[float32](w), head.Products[float32](t.kernel))
	return w, err
}

// run computes one query's loss and gradients. share is its weight in the batch's mean.
func (w *worker) run(e Example, seed uint64, share float64, p *propagation.Gradients, h *head.Gradients[float32]) outcome {
	if err := w.check(e); err != nil {
		return outcome{err: err}
	}
	w.entities[0] = e.Answer
	if e.Negatives != nil {
		copy(w.entities[1:], e.Negatives)
	} else if err := w.sampler.Draw(seed, e.Key, e.Answer, e.Known, w.entities[1:]); err != nil {
		return outcome{err: err}
	}
	w.query = propagation.Query{
		Source: e.Source, Relation: e.Relation, Removal: w.removal(e),
		Candidates: w.entities,
		Training:   true, Seed: random.Seed(seed, e.Key, 2), // the sampler derives its seeds from (seed, key) and (seed, key, 1)
	}
	w.gradients = p
	loss, err := w.head.Run(e.Relation, w.entities, share, h)
	return outcome{loss: loss, messages: w.propagator.Sent(), err: err}
}

func (w *worker) check(e Example) error {
	g := w.trainer.graph
	inside := func(entity int32) bool { return entity >= 0 && int(entity) < g.Entities }
	switch {
	case !inside(e.Source) || !inside(e.Answer):
		return fmt.Errorf("an entity is outside 0..%d", g.Entities-1)
	case e.Relation < 0 || int(e.Relation) >= g.RelationCount():
		return fmt.Errorf("the relation is outside 0..%d", g.RelationCount()-1)
	case e.Negatives != nil && len(e.Negatives) != len(w.entities)-1:
		return fmt.Errorf("%d negatives, want %d", len(e.Negatives), len(w.entities)-1)
	}
	for _, negative := range e.Negatives {
		if !inside(negative) {
			return fmt.Errorf("negative %d is outside 0..%d", negative, g.Entities-1)
		}
	}
	return nil
}

// removal returns the edges that the configuration removes from the query's graph.
func (w *worker) removal(e Example) graph.Removal {
	remove := w.trainer.configuration.Remove
	if remove == configuration.RemoveNone {
		return graph.Removal{}
	}
	return graph.Removal{
		Active: true, OneHop: remove == configuration.RemoveOneHop,
		Source: e.Source, Answer: e.Answer,
		Relation: e.Relation, Inverse: w.trainer.graph.Inverse(e.Relation),
	}
}

// Depth, Width, Forward, Candidates and Backward implement head.Propagation.

func (w *worker) Depth() int { return w.propagator.Depth() }

func (w *worker) Width() int { return w.propagator.Width() }

func (w *worker) Forward() error { return w.propagator.Forward(w.trainer.weights, w.query) }

func (w *worker) Candidates(entities []int32, states []float32, valid []int32) {
	w.propagator.Candidates(entities, states, valid)
}

func (w *worker) Backward(entities []int32, gradient []float32, query []float32) error {
	if err := w.propagator.Backward(entities, gradient, w.gradients); err != nil {
		return err
	}
	copy(query, w.gradients.Query)
	return nil
}
