package propagation

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// threads is how many goroutines serve a number of tasks.
func threads(tasks int) int { return min(runtime.GOMAXPROCS(0), tasks) }

// each runs all tasks, on that many goroutines, which take one after another. No two tasks at
// a time have the same thread, whose buffers they may use. What a task computes must not
// depend on its thread.
func each(threads, tasks int, do func(thread, task int)) {
	if threads < 2 {
		for task := range tasks {
			do(0, task)
		}
		return
	}
	var next atomic.Int64
	var done sync.WaitGroup
	for thread := range threads {
		done.Go(func() {
			for task := next.Add(1) - 1; task < int64(tasks); task = next.Add(1) - 1 {
				do(thread, int(task))
			}
		})
	}
	done.Wait()
}
