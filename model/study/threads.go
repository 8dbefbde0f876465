package study

import (
	"runtime"
	"sync"
)

// semaphores limit the threads that search at the same time in this process, however many elements
// Beam processes at once: one for each limit, which a channel of that capacity counts.
var semaphores sync.Map // map[int]chan struct{}

// semaphoreFor returns the semaphore of a number of threads, at most one per core; 0 is one per core.
func semaphoreFor(threads int) chan struct{} {
	if cores := runtime.GOMAXPROCS(0); threads <= 0 || threads > cores {
		threads = cores
	}
	semaphore, _ := semaphores.LoadOrStore(threads, make(chan struct{}, threads))
	return semaphore.(chan struct{})
}
