package learn

import (
	"errors"
	"fmt"
	"slices"

	"tagnet/model/engine/device"
	"tagnet/model/steps"
)

// makeTrainer makes the trainer of the current graph if there is none: validation frees its memory.
func (l *learner) makeTrainer() error {
	at := l.current
	if at.trainer != nil {
		return nil
	}
	var err error
	if a := l.device.Accelerator(); a != nil {
		if at.trainer, err = a.NewTrainer(at.Graph, at.Relations, l.Configuration, l.parameters, l.solver); err == nil {
			return nil
		}
		at.trainer = nil
		if !l.device.FallBack(err) {
			return fmt.Errorf("preparing to train: %w", l.explain(err))
		}
		l.announce()
	}
	if at.trainer, err = l.cpuTrainer(); err != nil {
		at.trainer = nil
		return fmt.Errorf("preparing to train: %w", err)
	}
	return nil
}

func (l *learner) cpuTrainer() (steps.Stepper, error) {
	return steps.New(l.current.Graph, l.current.Relations, l.Configuration, l.parameters, l.solver, l.Threads, l.kernel)
}

// closeTrainers stores the weights and the solver and frees the memory of all trainers.
func (l *learner) closeTrainers() error {
	if err := l.store(); err != nil {
		return err
	}
	return l.freeTrainers()
}

// freeTrainers frees the memory of all trainers without storing the weights.
func (l *learner) freeTrainers() error {
	var errs []error
	for _, m := range l.source.trainingGraphs() {
		if m.trainer != nil {
			errs = append(errs, m.trainer.Close())
			m.trainer = nil
		}
	}
	return errors.Join(errs...)
}

// store brings the parameters and the solver up to date.
func (l *learner) store() error {
	if !l.ahead {
		return nil
	}
	if err := l.current.trainer.Store(); err != nil {
		return fmt.Errorf("copying the weights from %v: %w", l.device.Accelerator(), l.explain(err))
	}
	l.ahead = false
	return nil
}

// load brings the trainers up to date with the parameters and the solver. What they have not stored is lost.
func (l *learner) load() error {
	for _, m := range l.source.trainingGraphs() {
		if m.trainer == nil {
			continue
		}
		if err := m.trainer.Load(); err != nil {
			return fmt.Errorf("copying the weights to %v: %w", l.device.Accelerator(), l.explain(err))
		}
	}
	l.ahead = false
	return nil
}

// step makes a step. If it is the first since store and needs more memory than an optional device
// has, the CPU makes it.
func (l *learner) step(examples []steps.Example, seed uint64) (steps.Result, error) {
	result, err := l.current.trainer.Step(examples, seed)
	if errors.Is(err, device.ErrMemory) && !l.ahead && l.device.FallBack(err) {
		l.announce()
		if err := l.closeTrainers(); err != nil {
			return result, err
		}
		if err := l.makeTrainer(); err != nil {
			return result, err
		}
		result, err = l.current.trainer.Step(examples, seed)
	}
	if err == nil {
		l.ahead = true
	}
	return result, err
}

// upcoming are the examples of a step that a trainer prepares.
type upcoming struct {
	epoch, index int
	examples     []steps.Example
}

func (l *learner) stepSeed(index int) uint64 {
	return steps.StepSeed(uint64(l.Seed), l.epoch, index)
}

// readExamples sets examples to the examples of a step, unless they are upcoming.
func (l *learner) readExamples(b batch, index int) (err error) {
	if u := &l.upcoming; u.epoch == l.epoch && u.index == index {
		l.examples, u.examples, u.epoch = u.examples, l.examples, 0
		return nil
	}
	l.examples, err = l.withNegatives(b, l.examples)
	return err
}

// withNegatives sets into to the examples of a batch that have negatives: a query without teaches nothing, since every
// answer is right.
func (l *learner) withNegatives(b batch, into []steps.Example) ([]steps.Example, error) {
	into, err := b.examples(into)
	if err != nil {
		return into, err
	}
	sampler := steps.NewSampler(b.Graph.Entities, l.Configuration.StrictNegatives)
	return slices.DeleteFunc(into, sampler.Saturated), nil
}

// skipStep makes a step that changes no weights, for a batch without examples: the steps of a round, and the names of
// checkpoints, count batches.
func (l *learner) skipStep() error {
	if err := l.store(); err != nil {
		return err
	}
	l.solver.Skip()
	return l.load()
}

// announceStep lets the trainer of a single graph prepare a step of the epoch while it makes the step before. If the
// examples cannot be read, the step itself returns the error.
func (l *learner) announceStep(index int) {
	if index >= l.steps || l.source.graphs() > 0 {
		return
	}
	l.current.trainer.Announce(func() ([]steps.Example, uint64) {
		u := &l.upcoming
		u.epoch = 0
		next, err := l.source.at(index)
		if err == nil {
			u.examples, err = l.withNegatives(next, u.examples)
		}
		if err != nil {
			return nil, 0
		}
		u.epoch, u.index = l.epoch, index
		return u.examples, l.stepSeed(index)
	})
}

// computedBy returns the kernel variant or the kind of device that makes the steps, for training.jsonl.
func (l *learner) computedBy() string {
	if a := l.device.Accelerator(); a != nil {
		return a.Name()
	}
	return l.kernel.Name()
}

// announce reports whether the training computes on the CPU or on a device.
func (l *learner) announce() {
	if text := l.device.String(); text != "" {
		p := l.progress(0)
		p.Notice = text
		l.report(p)
	}
}
