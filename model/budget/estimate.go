package budget

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// MiB is the unit in which a budget is given.
const MiB int64 = 1 << 20

// Base is what a process takes before there is a graph: the part of its program that is in use, Go's runtime, Beam with
// its local runner, and the elements that this has under way.
const Base = 120 * MiB

// Default is the budget of a worker process where none is given, in MiB.
const Default = 1024

// mostBuffers bounds what all threads sort in together: more makes fewer spill files, but nothing faster.
const mostBuffers = 1536 * MiB

// Estimate is the bytes that are held once, whatever the number of threads, and those of a thread.
type Estimate struct {
	// Task completes "--memory is too small: ... takes at least".
	Task         string
	Held, Thread int64
}

// Allotment is how a worker divides its budget among threads.
type Allotment struct {
	// Threads is the number of threads. MaxThreads is how many fit, for a worker with more cores than the
	// machine that divides it.
	Threads, MaxThreads int
	// Free is the bytes that are left, for buffers.
	Free int64
}

// TooSmall is the error of a budget that is less than an estimate.
type TooSmall struct {
	Task    string
	Threads int
	// Least is the least budget that is enough, and Thread what a thread takes of it, in bytes.
	Least, Thread int64
}

// Error names the least budget, and what fewer threads would save.
func (e *TooSmall) Error() string {
	if e.Threads == 1 {
		return fmt.Sprintf("%s with 1 thread takes at least %d MiB", e.Task, e.Least/MiB)
	}
	return fmt.Sprintf("%s with %d threads takes at least %d MiB, each thread %d of them", e.Task, e.Threads, e.Least/MiB, e.Thread/MiB)
}

// Allot divides a budget in bytes. Where threads is 0 it takes as many as fit, at most cores. The
// error is a *TooSmall.
func (e Estimate) Allot(budget int64, threads, cores int) (Allotment, error) {
	rest, thread := (budget-Base)/9*8-e.Held, max(1, e.Thread)
	most := int(max(0, rest/thread))
	if threads <= 0 {
		threads = max(1, min(cores, most))
	}
	if threads > most {
		return Allotment{}, &TooSmall{Task: e.Task, Threads: threads, Least: e.Least(threads), Thread: thread / 8 * 9}
	}
	return Allotment{Threads: threads, MaxThreads: most, Free: rest - int64(threads)*thread}, nil
}

// AllotLeast is Allot for a step of what has another allotment: a budget that is too small is as good as the least.
func (e Estimate) AllotLeast(budget int64, threads int) Allotment {
	a, _ := e.Allot(max(budget, e.Least(max(1, threads))), threads, runtime.GOMAXPROCS(0)) // enough
	return a
}

// Or returns the estimate of a process that does one of two things after the other.
func (e Estimate) Or(other Estimate) Estimate {
	e.Held, e.Thread = max(e.Held, other.Held), max(e.Thread, other.Thread)
	return e
}

// Least returns the least budget in bytes for so many threads, a multiple of MiB.
func (e Estimate) Least(threads int) int64 {
	live := e.Held + int64(threads)*max(1, e.Thread)
	return (Base + (live+7)/8*9 + MiB) / MiB * MiB
}

// leastBuffer is what a thread sorts in at least, which the estimate of its bytes has.
const leastBuffer = 8 * MiB

// Buffer returns how many bytes each thread may sort in: with leastBuffer an equal part of what is free.
func (a Allotment) Buffer() int64 { return leastBuffer + min(a.Free, mostBuffers)/int64(a.Threads) }

// outside is what of a process Go's limit does not count: the program's file as it is mapped, of which the system drops
// pages where it has to.
const outside = 88 * MiB

// Limit makes the garbage collector keep the process within a budget of bytes, as far as the memory in
// use allows; a budget of 0 is none. A lower limit that is already set (GOMEMLIMIT) stays. restore sets
// the limit before; without it the limit holds until the process ends.
func Limit(budget int64) (restore func()) {
	before := debug.SetMemoryLimit(-1)
	if budget > 0 {
		debug.SetMemoryLimit(min(before, max(budget, Base)-outside))
	}
	return func() { debug.SetMemoryLimit(before) }
}
