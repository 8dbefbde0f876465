package command

import (
	"context"
	"testing"
	"time"
)

// A job that is canceled at once is so only when its worker has had time to start, and one that
// is canceled later is so then; it has no deadline of its own.
func TestCancelLater(t *testing.T) {
	const within = 50 * time.Millisecond
	for _, after := range []time.Duration{0, 2 * within} {
		ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
		begun := time.Now()
		later, end := CancelLater(ctx, func() time.Duration { return within - time.Since(begun) })
		if _, has := later.Deadline(); has {
			t.Error("the deadline is passed on")
		}
		time.Sleep(after)
		if later.Err() != nil {
			t.Errorf("after %v: canceled without a request", after)
		}
		cancel()
		<-later.Done()
		if passed := time.Since(begun); passed < max(within, after) {
			t.Errorf("after %v: canceled %v after it began", after, passed)
		}
		end()
	}
	later, end := CancelLater(t.Context(), func() time.Duration { return within })
	end()
	if later.Err() == nil {
		t.Error("a job's context outlives it")
	}
}
