package runs

import "sync"

// working counts the steps of the process that hold memory of their own: however many a runner
// starts side by side, as many go on as the budget has threads.
var working struct {
	sync.Mutex
	left  *sync.Cond
	steps int
	free  [][]Row // buffers that no step uses
}

// Enter waits until fewer than so many steps of the process are at work, and counts one more.
func Enter(threads int) (leave func()) {
	working.Lock()
	defer working.Unlock()
	if working.left == nil {
		working.left = sync.NewCond(&working.Mutex)
	}
	for working.steps >= max(1, threads) {
		working.left.Wait()
	}
	working.steps++
	return func() {
		working.Lock()
		defer working.Unlock()
		working.steps--
		working.left.Broadcast()
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
