package serve

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"tagnet/model"
	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/cli/command"
)

// fitting makes the probabilities of a server's model beside its answers. In its zero value nothing was begun.
type fitting struct {
	done, total atomic.Int64           // queries that were answered, of about as many
	none        atomic.Pointer[string] // why there will be no probabilities, nil as long as there may be
	cancel      context.CancelFunc
	ended       chan struct{} // closed when nothing is computed any more
}

// stateReady is the state of probabilities that answers have. Others begin with stateFitting or stateNone.
const (
	stateReady   = "ready"
	stateFitting = "fitting "
	stateNone    = "none: "
)

const haveProbabilities = "answers have probabilities: "

// withProbabilities returns the line that says what probabilities presume.
func withProbabilities(limit string) string { return haveProbabilities + limit + " (--missing)" }

// probabilities says whether answers have probabilities: "ready", "fitting 34%", or "none: why".
func (s *server) probabilities() string {
	if _, fitted := s.model.Presumed(); fitted {
		return stateReady
	}
	if why := s.fitting.none.Load(); why != nil {
		return stateNone + *why
	}
	return fmt.Sprintf("%s%d%%", stateFitting, 100*s.fitting.done.Load()/max(1, s.fitting.total.Load()))
}

// fit begins to find the rules of the graph, and to make the probabilities of the model unless it has them, once
// the fit of the earlier server, which may be nil, has ended. It ends with ctx or by stopFit. said is called with a
// line about the result.
func (s *server) fit(ctx context.Context, earlier *server, said func(line string)) {
	ctx, s.fitting.cancel = context.WithCancel(ctx)
	s.fitting.ended = make(chan struct{})
	limit, fitted := s.model.Presumed()
	if fitted {
		said(withProbabilities(limit))
	}
	go func() {
		defer close(s.fitting.ended)
		if earlier != nil {
			earlier.stopFit()
		}
		err := s.fitOnce(ctx)
		switch limit, _ := s.model.Presumed(); {
		case ctx.Err() != nil || fitted:
		case err == nil:
			said(withProbabilities(limit))
		default:
			why := whyNone(err)
			s.fitting.none.Store(&why)
			said("answers have scores, but no probabilities: " + why)
		}
	}()
}

// fitOnce finds the rules of the graph, and fits the probabilities of the model unless it has them. A panic becomes an
// error, and its stack is logged as a failure of the server.
func (s *server) fitOnce(ctx context.Context) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &model.PanicError{Value: value, Stack: debug.Stack()}
		}
		if broken := new(model.PanicError); errors.As(err, &broken) {
			s.logging.Lock()
			defer s.logging.Unlock()
			_, _ = s.failures.Write(broken.Stack)
		}
	}()
	_ = s.model.MineRules(ctx, nil) // a request for reasons tells the error
	return s.model.Fit(ctx, func(done, total int64) {
		s.fitting.total.Store(total)
		s.fitting.done.Store(done)
	})
}

// whyNone returns why there are no probabilities, in one line.
func whyNone(err error) string {
	damaged := new(checkpoint.DamagedError)
	switch {
	case errors.Is(err, model.ErrTrainingGraph):
		return "they are fitted in the graph of all facts, which --graph train leaves out"
	case errors.Is(err, model.ErrTooFew):
		return "the graph has too few facts to fit them to"
	case errors.As(err, &damaged):
		return command.OneLine(damaged) + "; remove this file, and a reload makes it again"
	}
	return command.OneLine(err)
}

// stopFit ends the fit that was begun, and waits until nothing of it is computed any more.
func (s *server) stopFit() {
	if s.fitting.cancel == nil {
		return
	}
	s.fitting.cancel()
	<-s.fitting.ended
}
