package storage

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
)

// memory is a file system in this process.
type memory struct{}

var memoryFiles = struct {
	sync.Mutex
	content map[string][]byte // by cleaned path; never changed once stored
}{content: map[string][]byte{}}

func memoryURL(name string) string { return "mem://" + name }

func (m memory) open(ctx context.Context, name string) (io.ReadCloser, error) {
	return m.openRandom(ctx, name)
}

func (memory) openRandom(_ context.Context, name string) (RandomReader, error) {
	memoryFiles.Lock()
	defer memoryFiles.Unlock()
	data, found := memoryFiles.content[path.Clean(name)]
	if !found {
		return nil, fmt.Errorf("reading %s: %w", memoryURL(name), fs.ErrNotExist)
	}
	return openMemory{bytes.NewReader(data)}, nil
}

type openMemory struct{ *bytes.Reader }

func (openMemory) Close() error { return nil }

func (memory) create(_ context.Context, name string) (Writer, error) {
	return &memoryWriter{name: path.Clean(name)}, nil
}

type memoryWriter struct {
	bytes.Buffer
	name string
	done bool
}

func (w *memoryWriter) Commit() error {
	if w.done {
		return fmt.Errorf("writing %s: %w", memoryURL(w.name), fs.ErrClosed)
	}
	w.done = true
	memoryFiles.Lock()
	defer memoryFiles.Unlock()
	memoryFiles.content[w.name] = slices.Clone(w.Bytes())
	return nil
}

func (w *memoryWriter) Abort() error {
	w.done = true
	return nil
}

func (memory) exists(_ context.Context, name string) (bool, error) {
	memoryFiles.Lock()
	defer memoryFiles.Unlock()
	_, found := memoryFiles.content[path.Clean(name)]
	return found, nil
}

func (memory) remove(_ context.Context, name string) error {
	memoryFiles.Lock()
	defer memoryFiles.Unlock()
	delete(memoryFiles.content, path.Clean(name))
	return nil
}

func (memory) removeAll(_ context.Context, name string) error {
	memoryFiles.Lock()
	defer memoryFiles.Unlock()
	folder := path.Clean(name)
	for at := range memoryFiles.content {
		if at == folder || strings.HasPrefix(at, folder+"/") {
			delete(memoryFiles.content, at)
		}
	}
	return nil
}

func (memory) list(_ context.Context, name string) ([]string, error) {
	memoryFiles.Lock()
	defer memoryFiles.Unlock()
	var urls []string
	for at := range memoryFiles.content {
		if strings.HasPrefix(at, path.Clean(name)+"/") && !isTemporary(at) {
			urls = append(urls, memoryURL(at))
		}
	}
	return urls, nil
}

func (memory) checkWritable(context.Context, string) error { return nil }
