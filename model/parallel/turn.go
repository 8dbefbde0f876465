package parallel

import (
	"context"
	"sync"
)

// Turn is a mutex whose Lock returns early when a context is done.
type Turn struct {
	once sync.Once
	held chan struct{} // has a value while it is locked
}

// Lock waits for the turn, or for ctx to be done, whose cause it returns.
func (t *Turn) Lock(ctx context.Context) error {
	t.once.Do(func() { t.held = make(chan struct{}, 1) })
	select {
	case t.held <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Unlock ends the turn.
func (t *Turn) Unlock() { <-t.held }
