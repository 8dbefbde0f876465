package vocabulary

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"sync"

	"tagnet/formats/tables"
)

// IDs finds the id of a name.
type IDs struct {
	// Names has the name of each id, in byte order.
	Names []string
	ids   map[string]int32
}

// NewIDs is the vocabulary of names in byte order.
func NewIDs(names []string) *IDs {
	v := &IDs{Names: names, ids: make(map[string]int32, len(names))}
	for id, name := range names {
		v.ids[name] = int32(id)
	}
	return v
}

// Of returns the id of a name, or false if it has none.
func (v *IDs) Of(name string) (int32, bool) {
	id, ok := v.ids[name]
	return id, ok
}

// loaded holds what Load read, for the process, by URL and version.
var loaded struct {
	sync.Mutex
	byKey map[[2]string]*IDs
}

// Load reads a vocabulary file once per process.
func Load(ctx context.Context, w Written) (*IDs, error) {
	loaded.Lock()
	defer loaded.Unlock()
	key := [2]string{w.URL, w.Version}
	if v := loaded.byKey[key]; v != nil {
		return v, nil
	}
	schema := tables.Entities
	if w.File == RelationsFile {
		schema = tables.Relations
	}
	names, err := tables.ReadNames(ctx, w.URL, schema)
	if err != nil {
		return nil, err
	}
	if version(names) != w.Version {
		return nil, fmt.Errorf("%s is not what was just written there: does another run write to the same workspace?", w.URL)
	}
	if loaded.byKey == nil {
		loaded.byKey = map[[2]string]*IDs{}
	}
	v := NewIDs(names)
	loaded.byKey[key] = v
	return v, nil
}

// Forget drops what Load keeps.
func Forget() {
	loaded.Lock()
	defer loaded.Unlock()
	loaded.byKey = nil
}

// version tells vocabularies apart by their names.
func version(names []string) string {
	h := sha256.New()
	for _, name := range names {
		fmt.Fprintf(h, "%d:", len(name))
		io.WriteString(h, name)
	}
	return hex.EncodeToString(h.Sum(nil))
}
