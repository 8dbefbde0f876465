package parallel

import (
	"context"
	"sync"
	"sync/atomic"
)

// Workers runs tasks 0..tasks-1 on that many workers, each a goroutine that takes the next task
// when it has finished one. Two tasks with the same worker index never run at the same time, so
// they may share that worker's buffers. What a task computes must not depend on its worker. With
// fewer than two workers, or one task, it runs in the calling goroutine.
func Workers(workers, tasks int, work func(worker, task int)) {
	workers = min(workers, tasks)
	if workers < 2 {
		for task := range tasks {
			work(0, task)
		}
		return
	}
	var next atomic.Int64
	var done sync.WaitGroup
	for worker := range workers {
		done.Go(func() {
			for task := next.Add(1) - 1; task < int64(tasks); task = next.Add(1) - 1 {
				work(worker, int(task))
			}
		})
	}
	done.Wait()
}

// Try runs tasks that can fail on workers; see Workers. It starts no further task once one has failed or ctx is
// done, and returns the first error. It then cancels the context of the tasks.
func Try(ctx context.Context, workers, tasks int, work func(ctx context.Context, worker, task int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	Workers(workers, tasks, func(worker, task int) {
		if ctx.Err() != nil {
			return
		}
		if err := work(ctx, worker, task); err != nil {
			cancel(err)
		}
	})
	return context.Cause(ctx)
}
