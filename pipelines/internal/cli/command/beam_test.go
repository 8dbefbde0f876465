package command

import (
	"context"
	"testing"
	"time"
)

// TestCancelLater checks that a job is canceled a while after the request, and that it has no deadline of its own.
func TestCancelLater(t *testing.T) {
	const wait = 50 * time.Millisecond
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
	later, end := CancelLater(ctx, wait)
	if _, has := later.Deadline(); has {
		t.Error("the deadline is passed on")
	}
	begun := time.Now()
	cancel()
	<-later.Done()
	if passed := time.Since(begun); passed < wait {
		t.Errorf("canceled after %v, want %v", passed, wait)
	}
	end()
	later, end = CancelLater(t.Context(), wait)
	end()
	if later.Err() == nil {
		t.Error("a job's context outlives it")
	}
}
