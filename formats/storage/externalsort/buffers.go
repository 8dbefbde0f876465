package externalsort

import "sync"

// idle holds the buffers that no thread uses. Unlike a sync.Pool it drops those that are too small
// before it allocates: both would not fit into the memory budget.
var idle struct {
	sync.Mutex
	buffers [][]Row
}

// Buffer returns an empty buffer with a capacity of rows, one that was given back if possible.
func Buffer(rows int) []Row {
	idle.Lock()
	defer idle.Unlock()
	for i, b := range idle.buffers {
		if cap(b) >= rows {
			idle.buffers = append(idle.buffers[:i], idle.buffers[i+1:]...)
			return b[:0:rows]
		}
	}
	idle.buffers = nil
	return make([]Row, 0, rows)
}

// Return makes buffers available to other threads.
func Return(buffers ...[]Row) {
	idle.Lock()
	defer idle.Unlock()
	idle.buffers = append(idle.buffers, buffers...)
}

// Forget drops the buffers that were returned.
func Forget() {
	idle.Lock()
	defer idle.Unlock()
	idle.buffers = nil
}
