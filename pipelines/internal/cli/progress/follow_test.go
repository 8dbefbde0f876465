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

// TestFollowedLater starts the clock of a count behind a bar's with its first units.
func TestFollowedLater(t *testing.T) {
	d, _, c := display(false)
	also := d.Begin("fitting", 10, "queries").Also("regressions", 6, "steps")
	c.now = c.now.Add(time.Minute)
	counted := worker.NewCounter("test", "counted_later")
	since := worker.Counted("counted_later")
	counted.Inc(t.Context(), 1)
	for range 2 {
		also.showCount("counted_later", since, 0)
	}
	c.now = c.now.Add(2*time.Second - pollEvery)
	if got, want := also.counts(c.now, false), "regressions  17%  1 of 6 steps  0.5/s  10s left"; got != want {
		t.Errorf("it shows %q, want %q", got, want)
	}
}
