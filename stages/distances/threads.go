package distances

import (
	"runtime"
	"sync"
)

// semaphores limit the threads that search at the same time in this process, however many elements
// Beam processes at once: one for each limit, which a channel of that capacity counts.
var semaphores sync.Map // map[int]chan struct{}

// semaphoreFor returns the semaphore of so many threads, at most one per core; 0 is one per core.
func semaphoreFor(threads int) chan struct{} {
	if cores := runtime.GOMAXPROCS(0); threads <= 0 || threads > cores {
		threads = cores
	}
	semaphore, _ := semaphores.LoadOrStore(threads, make(chan struct{}, threads))
	return semaphore.(chan struct{})
}

// acquire waits until fewer than so many threads work, and returns the function that releases the
// caller's thread.
func acquire(threads int) (release func()) {
	semaphore := semaphoreFor(threads)
	semaphore <- struct{}{}
	return func() { <-semaphore }
}
