package worker

import (
	"errors"
	"io"
	"maps"
	"sync"
)

// Key identifies a cached value.
type Key struct {
	// Kind names what is cached, such as "graph". Values of one kind have one Go type.
	Kind string
	// URL is where the value was read from, with whatever else distinguishes two values of a kind
	// that are in use at the same time.
	URL string
}

// entry is a cached value, or one that is being loaded. Its mutex is held while it is loaded, so
// that other keys are not kept waiting.
type entry struct {
	sync.Mutex
	loaded  bool
	version any
	value   any
}

var cache = struct {
	sync.Mutex
	entries map[Key]*entry
}{entries: map[Key]*entry{}}

// Load returns the value of a key in this version, from the cache or by calling load. Versions are
// compared with ==; a checksum of the file read is one. Concurrent calls with the same key load it
// once. An error is returned and not cached. load may call Load with other keys. A value that is an
// io.Closer is closed before another version of it is loaded.
func Load[V any](key Key, version any, load func() (V, error)) (V, error) {
	cache.Lock()
	e := cache.entries[key]
	if e == nil {
		e = &entry{}
		cache.entries[key] = e
	}
	cache.Unlock()

	e.Lock()
	defer e.Unlock()
	if e.loaded && e.version == version {
		return e.value.(V), nil
	}
	if closer, ok := e.value.(io.Closer); ok {
		_ = closer.Close() // what it held is of no use any more
	}
	e.loaded, e.value = false, nil // before load: memory need not hold two versions
	value, err := load()
	if err != nil {
		return value, err
	}
	e.loaded, e.version, e.value = true, version, value
	return value, nil
}

// Discard drops the values with certain keys and closes the io.Closers among them: nobody may use them any more. It
// returns the errors of closing.
func Discard(among func(Key) bool) error {
	cache.Lock()
	var dropped []*entry
	maps.DeleteFunc(cache.entries, func(key Key, e *entry) bool {
		if among(key) {
			dropped = append(dropped, e)
		}
		return among(key)
	})
	cache.Unlock()
	var errs []error
	for _, e := range dropped {
		e.Lock() // a value that is being loaded is closed when it is
		if closer, ok := e.value.(io.Closer); ok {
			errs = append(errs, closer.Close())
		}
		e.loaded, e.value = false, nil
		e.Unlock()
	}
	return errors.Join(errs...)
}

// Forget drops all values of a kind. Those in use elsewhere stay valid.
func Forget(kind string) {
	cache.Lock()
	defer cache.Unlock()
	for key := range cache.entries {
		if key.Kind == kind {
			delete(cache.entries, key)
		}
	}
}
