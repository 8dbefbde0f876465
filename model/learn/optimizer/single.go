package optimizer

import (
	"tagnet/model/engine/head"
	"tagnet/model/engine/propagation"
)

// Single computes the loss and the gradients of one example at a time, for measurements, and makes no step.
type Single struct {
	worker       *worker
	propagations *propagation.Gradients
	heads        *head.Gradients[float32]
}

// Singles returns one Single for each thread of the trainer, which may work at the same time on examples of the relations. No
// states are shared between examples.
func (t *Trainer) Singles(relations []int32) []*Single {
	t.weights.Relations.Prepare(relations)
	t.reserve(len(t.workers))
	singles := make([]*Single, len(t.workers))
	for i, w := range t.workers {
		singles[i] = &Single{w, t.propagations[i], t.heads[i]}
	}
	return singles
}

// Propagator returns the propagator of the examples.
func (s *Single) Propagator() *propagation.Propagator { return s.worker.propagator }

// Run computes the loss and the gradients of an example.
func (s *Single) Run(e Example, seed uint64) error {
	return s.worker.run(e, seed, 1, s.propagations, s.heads).err
}
