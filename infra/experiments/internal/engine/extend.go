package engine

import (
	"context"
	"fmt"
	"time"

	"tagnet/formats/results"
	"tagnet/infra/experiments/internal/plan"
)

// Extend trains a run up to the epochs of its configuration and returns these epochs. It continues the training of an earlier call, which
// may have had fewer or more epochs. It evaluates nothing. A training that was begun with another configuration is an error, or is made again with
// Force. If another process trains the run, such as one that a killed program has left behind, Extend calls wait once and waits for it.
func (e *Engine) Extend(ctx context.Context, r plan.Run, threads int, wait func(why string)) (results.Training, error) {
	if err := e.prepare(r); err != nil {
		return results.Training{}, err
	}
	s, err := e.inspectExtension(ctx, r)
	for waited := false; err == nil && s.State == Running; waited = true {
		if e.Processes.Interrupted() {
			return results.Training{}, errInterrupted
		}
		if !waited {
			wait(s.Why)
		}
		time.Sleep(time.Second)
		s, err = e.inspectExtension(ctx, r)
	}
	if err != nil {
		return results.Training{}, err
	}
	if s.State != Trained {
		if err := e.train(r, s, threads); err != nil {
			return results.Training{}, err
		}
	}
	t, err := e.history(ctx, r)
	if err == nil && len(t.Curve) < r.Configuration.Epochs {
		err = fmt.Errorf("%s has %d epochs after a training of %d", e.checkpoints(r), len(t.Curve), r.Configuration.Epochs)
	}
	if err != nil {
		return results.Training{}, err
	}
	t = results.Training{Epochs: r.Configuration.Epochs, Curve: t.Curve[:r.Configuration.Epochs]}
	for _, epoch := range t.Curve {
		t.Seconds += epoch.Seconds
		t.Messages += epoch.Messages
	}
	return t, nil
}

// inspectExtension returns how far a training is, which may have been started with another number of epochs than the plan has.
func (e *Engine) inspectExtension(ctx context.Context, r plan.Run) (Status, error) {
	records, _, err := e.checkpoints(r).Records(ctx)
	if err != nil {
		return Status{}, err
	}
	same := r
	if n := len(records); n > 0 {
		same.Configuration.Epochs = records[n-1].Configuration.Epochs
	}
	s := Status{State: Missing}
	if err := e.inspectTraining(ctx, same, &s); err != nil {
		return s, err
	}
	switch {
	case s.State == Running || s.State == Missing:
	case s.State == Stale && !e.Force:
		return s, fmt.Errorf("%s: %s; give the search another name, or make it again with --force", r.ID(), s.Why)
	case s.State == Stale:
	case s.Epochs >= r.Configuration.Epochs:
		s.State = Trained
	default:
		s.State = Interrupted
	}
	return s, nil
}
