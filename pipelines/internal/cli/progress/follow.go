package progress

import (
	"context"
	"sync"
	"time"

	"tagnet/stages/worker"
)

const pollEvery = 300 * time.Millisecond

// Follow sets the bar to the value of a counter until stop is called: its count in this process or,
// if the workers run elsewhere, in the job which Display.Follow names.
func (b *Bar) Follow(ctx context.Context, name string) (stop func()) {
	return b.FollowFrom(ctx, name, 0)
}

// FollowFrom follows a counter like Follow, for a step of several jobs whose earlier ones did before units.
func (b *Bar) FollowFrom(ctx context.Context, name string, before int64) (stop func()) {
	since := worker.Counted(name)
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				b.showCount(name, since, before)
			}
		}
	})
	return func() {
		cancel()
		done.Wait()
		b.showCount(name, since, before)
	}
}

// showCount shows the counter's increase in this process since the given value or, if there is none, what is
// known of a job elsewhere.
func (b *Bar) showCount(name string, since, before int64) {
	if n := worker.Counted(name) - since; n > 0 {
		b.d.mu.Lock()
		if b.before != nil && b.done == 0 { // its clock starts now
			b.begun = b.d.now().Add(-pollEvery)
		}
		b.d.mu.Unlock()
		b.Set(before + n)
		return
	}
	b.d.mu.Lock()
	remote := b.d.remote
	b.d.mu.Unlock()
	if remote == nil {
		return
	}
	n, note := remote(name)
	if n > 0 {
		b.Set(before + n)
	}
	if note != "" && b.before == nil { // the line of both has one note
		b.Note("%s", note)
	}
}
