package steps

import (
	"context"

	"tagnet/model/engine/head"
	"tagnet/model/engine/propagation"
	"tagnet/model/parallel"
	"tagnet/model/weights/configuration"
)

// worker computes one query at a time, with buffers of its own. It implements head.Propagation for its head.
type worker struct {
	trainer    *Trainer
	propagator *propagation.Propagator
	sampler    *Sampler
	head       *head.Head[float32]

	entities  []int32 // each answer, then its negatives
	request   propagation.Request
	gradients *propagation.Gradients // the current query's
}

// newWorker returns a worker of a trainer with a head of its own.
func newWorker(t *Trainer, propagator *propagation.Propagator) (*worker, error) {
	c := t.configuration
	w := &worker{
		trainer:    t,
		propagator: propagator,
		sampler:    NewSampler(t.graph.Entities, c.StrictNegatives),
	}
	var err error
	w.head, err = head.New(c, 1+c.Negatives, t.parameters, head.Propagation[float32](w), head.Products[float32](t.kernel))
	return w, err
}

// run computes one query's loss and gradients. share is the weight of an answer in the batch's mean.
func (w *worker) run(e Example, seed uint64, share float64, p *propagation.Gradients, h *head.Gradients[float32]) outcome {
	g, c := w.trainer.graph, w.trainer.configuration
	if err := Check(e, g, c.Negatives); err != nil {
		return outcome{err: err}
	}
	e.Removal = configuration.Removal(c.Remove)
	var among []int32
	if c.ReachNegatives > 0 {
		among = w.propagator.Inside(e.Query, e.Part)
	}
	if err := w.drawCandidates(e, among, seed); err != nil {
		return outcome{err: err}
	}
	if len(w.entities) == 0 {
		p.Zero()
		h.Zero()
		return outcome{}
	}
	w.request = propagation.Request{
		Query: e.Query, Candidates: w.entities, Part: e.Part,
		// the sampler derives its seeds from (seed, key) and (seed, key, 1)
		Training: true, ShareStates: c.ShareStates && c.Policy == configuration.PolicyWindow, Seed: parallel.Seed(seed, e.Key, 2),
	}
	w.gradients = p
	loss, err := w.head.Run(w.trainer.weights.Relations.Query(e.Relation), w.entities, share, h)
	return outcome{loss: loss, messages: w.propagator.Sent(), err: err}
}

// drawCandidates sets entities to the answers of an example, each with its negatives. Of negatives among some entities,
// it leaves out answers that are not among these.
func (w *worker) drawCandidates(e Example, among []int32, seed uint64) error {
	c := w.trainer.configuration
	w.entities = w.entities[:0]
	for i := range e.Answers() {
		one := e.alone(i)
		if c.ReachNegatives > 0 && LeftOut(one, among) {
			continue
		}
		first := len(w.entities)
		w.entities = parallel.Extend(w.entities, first+1+c.Negatives)
		w.entities[first] = one.Answer
		if err := w.sampler.Negatives(one, c.ReachNegatives, among, seed, w.entities[first+1:]); err != nil {
			return err
		}
	}
	return nil
}

// Depth, Width, Forward, Candidates and Backward implement head.Propagation.

func (w *worker) Depth() int { return w.propagator.Depth() }

func (w *worker) Width() int { return w.propagator.Width() }

func (w *worker) Forward() error {
	return w.propagator.Forward(context.Background(), w.trainer.weights, w.request)
}

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
