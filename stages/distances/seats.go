package distances

import (
	"runtime"
	"sync"

	"tagnet/model/budget"
)

// limitMemory has the garbage collector keep this process within a budget of bytes, as long as
// it lives, as far as what is in use allows; 0 is none.
func limitMemory(bytes int64) {
	if bytes > 0 {
		budget.Limit(bytes)
	}
}

// seats bound, by the number of threads a run may have, those that work at a time in this
// process, however many elements Beam has under way.
var seats struct {
	sync.Mutex
	byThreads map[int]chan struct{}
}

// seatsFor are as many seats as a run may have threads, and as there are cores at most; 0
// threads are as many as there are cores. A thread works while it has put something in.
func seatsFor(threads int) chan struct{} {
	if cores := runtime.GOMAXPROCS(0); threads <= 0 || threads > cores {
		threads = cores
	}
	seats.Lock()
	defer seats.Unlock()
	if seats.byThreads == nil {
		seats.byThreads = map[int]chan struct{}{}
	}
	if seats.byThreads[threads] == nil {
		seats.byThreads[threads] = make(chan struct{}, threads)
	}
	return seats.byThreads[threads]
}

// takeSeat waits until fewer than that many threads work, and returns what ends the caller's
// turn.
func takeSeat(threads int) (leave func()) {
	taken := seatsFor(threads)
	taken <- struct{}{}
	return func() { <-taken }
}
