package worker

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// working counts the threads of this process that hold memory of their own, and cancels them when
// a pipeline has failed.
var working = func() *limiter {
	l := &limiter{}
	l.changed = sync.NewCond(l)
	l.start()
	return l
}()

type limiter struct {
	sync.Mutex
	changed *sync.Cond
	threads int
	stop    context.Context
	cancel  context.CancelCauseFunc
}

func (l *limiter) start() { l.stop, l.cancel = context.WithCancelCause(context.Background()) }

// errStopped is the cause of contexts that Stop cancels.
var errStopped = errors.New("another step of the pipeline has failed, or it was interrupted")

// Enter waits until fewer than threads threads of this process work, however many elements the
// runner processes at the same time, and begins to work. The returned context is canceled by Stop,
// and by leave, which ends the work. Enter returns an error if Stop was called since Start.
func Enter(ctx context.Context, threads int) (_ context.Context, leave func(), err error) {
	working.Lock()
	defer working.Unlock()
	for working.threads >= max(1, threads) && working.stop.Err() == nil {
		working.changed.Wait()
	}
	if working.stop.Err() != nil {
		return ctx, nil, errStopped
	}
	working.threads++
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(working.stop, func() { cancel(errStopped) })
	return ctx, func() {
		stop()
		cancel(nil)
		working.Lock()
		defer working.Unlock()
		working.threads--
		working.changed.Broadcast()
	}, nil
}

// Threads returns the number of threads of a step in this process: given or, if that is 0, one a core, at most most unless
// that is 0.
func Threads(given, most int) int {
	switch cores := runtime.GOMAXPROCS(0); {
	case given > 0:
		return given
	case most > 0:
		return min(cores, most)
	default:
		return cores
	}
}

// Start allows work again, for a new pipeline of this process.
func Start() {
	working.Lock()
	defer working.Unlock()
	if working.stop.Err() != nil {
		working.start()
	}
}

// Stop cancels all work of this process and returns when it has ended. A runner may give up a
// pipeline while some of its steps still write files, which would appear after their folder was
// removed.
func Stop() {
	working.Lock()
	defer working.Unlock()
	working.cancel(errStopped)
	working.changed.Broadcast()
	for working.threads > 0 {
		working.changed.Wait()
	}
}
