package worker

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestEnter checks that no more threads work than the limit allows.
func TestEnter(t *testing.T) {
	var now, most atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			_, leave, err := Enter(t.Context(), 3)
			if err != nil {
				t.Error(err)
				return
			}
			defer leave()
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Millisecond)
			now.Add(-1)
		})
	}
	all.Wait()
	if got := most.Load(); got != 3 {
		t.Errorf("%d threads work at the same time, want 3", got)
	}
}

// TestStop checks that Stop cancels threads that work, that those which wait get an error, and that
// no thread works when it returns.
func TestStop(t *testing.T) {
	defer Start()
	var working atomic.Int32
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			ctx, leave, err := Enter(t.Context(), 2)
			if err != nil {
				return
			}
			working.Add(1)
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), errStopped) {
				t.Errorf("cause %v, want %v", context.Cause(ctx), errStopped)
			}
			working.Add(-1)
			leave()
		})
	}
	for working.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	Stop()
	if n := working.Load(); n != 0 {
		t.Errorf("%d threads work after Stop", n)
	}
	all.Wait()
	if _, _, err := Enter(t.Context(), 2); !errors.Is(err, errStopped) {
		t.Errorf("Enter after Stop: error %v, want %v", err, errStopped)
	}
	Start()
	_, leave, err := Enter(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	leave()
}
