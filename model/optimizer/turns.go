package optimizer

import "sync"

// turns let tasks 0, 1, 2, .., which workers begin in this order, do a part of their work in the same order. Each takes its turn,
// whatever becomes of it.
type turns struct {
	mutex sync.Mutex
	ended sync.Cond // a turn has; L is set to mutex by take
	next  int
}

// take waits for the turns of all tasks before this one, and runs do.
func (t *turns) take(task int, do func()) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.ended.L = &t.mutex
	for t.next != task {
		t.ended.Wait()
	}
	do()
	t.next++
	t.ended.Broadcast()
}
