package worker

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// process counts the threads of this process that hold memory of their own, and cancels them when
// a pipeline has failed.
var process = func() *limiter {
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
// and by leave, which ends the work. Enter returns an error if Stop was called since Start; the end of
// ctx does not end the wait.
func Enter(ctx context.Context, threads int) (_ context.Context, leave func(), err error) {
	process.Lock()
	defer process.Unlock()
	for process.threads >= max(1, threads) && process.stop.Err() == nil {
		process.changed.Wait()
	}
	if process.stop.Err() != nil {
		return ctx, nil, errStopped
	}
	process.threads++
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(process.stop, func() { cancel(errStopped) })
	return ctx, func() {
		stop()
		cancel(nil)
		process.Lock()
		defer process.Unlock()
		process.threads--
		process.changed.Broadcast()
	}, nil
}

// Threads returns the number of threads of a step in this process: threads or, if that is 0, one a core, at most limit
// unless that is 0.
func Threads(threads, limit int) int {
	switch cores := runtime.GOMAXPROCS(0); {
	case threads > 0:
		return threads
	case limit > 0:
		return min(cores, limit)
	default:
		return cores
	}
}

// Start allows work again, for a new pipeline of this process.
func Start() {
	process.Lock()
	defer process.Unlock()
	if process.stop.Err() != nil {
		process.start()
	}
}

// Stop cancels all work of this process and returns when it has ended. A runner may give up a pipeline while some of
// its steps still write files, which would appear after their folder was removed.
func Stop() {
	process.Lock()
	defer process.Unlock()
	process.cancel(errStopped)
	process.changed.Broadcast()
	for process.threads > 0 {
		process.changed.Wait()
	}
}
