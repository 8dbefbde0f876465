package progress

import (
	"context"
	"testing"
	"time"

	"tagnet/stages/worker"
)

// TestFollowCountsHere checks that a bar shows the counts of this process since its step began,
// without a runner.
func TestFollowCountsHere(t *testing.T) {
	counted := worker.NewCounter("test", "counted_here")
	other := worker.NewCounter("another", "counted_here")
	counted.Inc(context.Background(), 1000) // by a job before
	d, _, _ := display(false)
	b := d.Begin("counting", 10, "things")
	stop := b.FollowFrom(t.Context(), "counted_here", 2)
	counted.Inc(context.Background(), 3)
	other.Inc(context.Background(), 4)
	done := func() int64 {
		d.mu.Lock()
		defer d.mu.Unlock()
		return b.done
	}
	for range 100 {
		if done() == 9 {
			break
		}
		time.Sleep(pollEvery / 10)
	}
	stop()
	if n := done(); n != 9 {
		t.Errorf("the bar shows %d, want 2 of earlier jobs and 7", n)
	}
}
