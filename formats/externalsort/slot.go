package externalsort

import (
	"errors"
	"sync"
)

// working counts the steps of the process that hold memory of their own: however many a runner
// starts side by side, as many go on as the budget has threads.
var working struct {
	sync.Mutex
	left   *sync.Cond
	steps  int
	halted bool
	free   [][]Row // buffers that no step uses
}

// errHalted is the error of a step of a run that has failed or was interrupted.
var errHalted = errors.New("the run has ended elsewhere")

// Enter waits until fewer than so many steps of the process are at work, and counts one more. It
// is an error when the run has ended meanwhile.
func Enter(threads int) (leave func(), err error) {
	working.Lock()
	defer working.Unlock()
	for working.steps >= max(1, threads) && !working.halted {
		wait()
	}
	if working.halted {
		return nil, errHalted
	}
	working.steps++
	return func() {
		working.Lock()
		defer working.Unlock()
		working.steps--
		if working.left != nil {
			working.left.Broadcast()
		}
	}, nil
}

// wait is called with the lock held, and returns when a step has left.
func wait() {
	if working.left == nil {
		working.left = sync.NewCond(&working.Mutex)
	}
	working.left.Wait()
}

// Going returns an error when the run has ended: long steps ask now and then.
func Going() error {
	working.Lock()
	defer working.Unlock()
	if working.halted {
		return errHalted
	}
	return nil
}

// Begin lets steps of a new run of this process work.
func Begin() {
	working.Lock()
	defer working.Unlock()
	working.halted = false
}

// Halt ends all steps that are at work in this process, and returns when they have left: a runner
// may give up on a pipeline while some still write files, which would appear after the folder was
// removed.
func Halt() {
	working.Lock()
	defer working.Unlock()
	working.halted = true
	if working.left != nil {
		working.left.Broadcast()
	}
	for working.steps > 0 {
		wait()
	}
}

// Buffer is empty room for so many rows, used before if possible. Return takes it back.
func Buffer(rows int) []Row {
	working.Lock()
	defer working.Unlock()
	for i, b := range working.free {
		if cap(b) >= rows {
			working.free = append(working.free[:i], working.free[i+1:]...)
			return b[:0:rows]
		}
	}
	working.free = nil // they are too small, and would stand beside the new one
	return make([]Row, 0, rows)
}

// Return keeps buffers for others.
func Return(buffers ...[]Row) {
	working.Lock()
	defer working.Unlock()
	working.free = append(working.free, buffers...)
}

// Forget drops the buffers that were returned.
func Forget() {
	working.Lock()
	defer working.Unlock()
	working.free = nil
}
