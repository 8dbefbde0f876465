package distance

import (
	"sync"

	"tagnet/stages/budget"
)

// limitMemory has the garbage collector keep this process within a budget of bytes, as long as
// it lives, as far as what is in use allows; 0 is none.
func limitMemory(bytes int64) {
	if bytes > 0 {
		budget.Limit(bytes)
	}
}

// threadsOf bounds, by the number of threads a run may have, those that work at a time in this
// process, however many elements Beam has under way.
var threadsOf struct {
	sync.Mutex
	seats map[int]chan struct{}
}

// takeSeat waits until fewer than that many threads work, and returns what ends the caller's
// turn. 0 is no bound.
func takeSeat(threads int) (leave func()) {
	if threads <= 0 {
		return func() {}
	}
	threadsOf.Lock()
	if threadsOf.seats == nil {
		threadsOf.seats = map[int]chan struct{}{}
	}
	taken := threadsOf.seats[threads]
	if taken == nil {
		taken = make(chan struct{}, threads)
		threadsOf.seats[threads] = taken
	}
	threadsOf.Unlock()
	taken <- struct{}{}
	return func() { <-taken }
}

// withheld are seats of Sweep that stay empty.
var withheld struct {
	sync.Mutex
	seats int
}

// limitSweep has Sweep use so many threads at most in this process; 0 is as many as there are
// seats.
func limitSweep(threads int) {
	withheld.Lock()
	defer withheld.Unlock()
	keep := 0
	if threads > 0 {
		keep = max(0, cap(seats)-threads)
	}
	for ; withheld.seats < keep; withheld.seats++ {
		seats <- struct{}{}
	}
	for ; withheld.seats > keep; withheld.seats-- {
		<-seats
	}
}
