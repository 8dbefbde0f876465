package lock

import (
	"context"
	"errors"
	"time"
)

// retry is how often Await looks whether a lock is free.
const retry = 200 * time.Millisecond

// Await is Acquire, without force, but waits as long as a run that IsAlive holds the lock, and takes over from one that
// dies. It calls waiting several times a second meanwhile.
func Await(ctx context.Context, folder, command string, waiting func(*Held)) (Lock, error) {
	for {
		l, err := Acquire(ctx, folder, command, false)
		if err != nil && ctx.Err() != nil {
			return Lock{}, context.Cause(ctx)
		}
		held := (*Held)(nil)
		if !errors.As(err, &held) || !held.IsAlive() {
			return l, err
		}
		waiting(held)
		select {
		case <-ctx.Done(): // the next try says so
		case <-time.After(retry):
		}
	}
}

// IsAlive reports whether the run is one of this machine that is known to be alive, so that its end will be seen.
func (h *Held) IsAlive() bool {
	me := here()
	return h.Owner.Host == me.Host && h.Owner.fate(me, false) == running
}
