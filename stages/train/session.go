package train

import (
	"context"
	"sync"

	"tagnet/model/learn"
	"tagnet/stages/worker"
)

// Session connects a training with the process that started its Beam pipeline, if it runs there: it
// reports progress and passes interrupts on. On a runner with workers elsewhere it does nothing.
type Session struct {
	// ID names the session in Params.Session, by which workers find it.
	ID string
	// Replan is that of the training's learn.Data.
	Replan learn.Replan

	report  func(learn.Progress)
	stopped context.Context
	stop    context.CancelFunc
	release func()

	mu  sync.Mutex
	err error

	// The queries that shards have trained in the current epoch, and the sum of their losses.
	epoch   int
	queries int64
	loss    float64
}

// NewSession returns a session that reports the progress of a training to a function, which may be
// nil and is not called concurrently. Close ends it.
func NewSession(report func(learn.Progress)) *Session {
	s := &Session{report: report}
	s.stopped, s.stop = context.WithCancel(context.Background())
	s.ID, s.release = worker.Register(s)
	return s
}

// Close ends the session. It reports no progress after that.
func (s *Session) Close() {
	s.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report = nil
}

// Stop makes the training, or one that starts later, write a checkpoint and end with
// context.Canceled. It does not wait for that.
func (s *Session) Stop() { s.stop() }

// Err returns the error with which the training ended in this process. Beam returns only its text.
func (s *Session) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// setErr keeps the first error.
func (s *Session) setErr(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// tell reports progress, unless the session is closed.
func (s *Session) tell(p learn.Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.report != nil {
		s.report(p)
	}
}

// tellShard adds queries and the sum of their losses to what the shards of this process have trained in
// the epoch, and reports progress with the total.
func (s *Session) tellShard(p learn.Progress, queries int64, loss float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.epoch != p.Epoch {
		s.epoch, s.queries, s.loss = p.Epoch, 0, 0
	}
	s.queries += queries
	s.loss += loss
	p.Queries, p.Loss = s.queries, s.loss/float64(max(1, s.queries))
	if s.report != nil {
		s.report(p)
	}
}

// join returns a context that Stop cancels too.
func (s *Session) join(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	detach := context.AfterFunc(s.stopped, cancel)
	if s.stopped.Err() != nil {
		cancel() // at once, since AfterFunc runs in another goroutine
	}
	return ctx, func() {
		detach()
		cancel()
	}
}
