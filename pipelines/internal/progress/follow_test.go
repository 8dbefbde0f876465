package progress

import (
	"context"
	"testing"
	"time"

	"tagnet/stages/counter"
)

// TestFollowCountsHere holds that a bar shows what was counted in this process since it began,
// at once and without asking a runner.
func TestFollowCountsHere(t *testing.T) {
	counted := counter.New("test", "counted_here")
	other := counter.New("another", "counted_here")
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
		t.Errorf("%d are shown, want 2 of before and 7", n)
	}
}
