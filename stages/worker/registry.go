package worker

import (
	"crypto/rand"
	"sync"
)

var registry sync.Map // values by id

// Register makes a value known to the DoFns that run in this process, under an id that no other process has, until
// release is called. It carries what a DoFn's exported fields cannot: functions and channels.
func Register(value any) (id string, release func()) {
	id = rand.Text()
	registry.Store(id, value)
	return id, func() { registry.Delete(id) }
}

// Registered returns the value with that id, or false where it was registered in another process,
// as on a runner whose workers are elsewhere, or released.
func Registered[V any](id string) (V, bool) {
	value, _ := registry.Load(id)
	v, ok := value.(V)
	return v, ok
}
