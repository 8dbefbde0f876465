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

// memory is a file system in the memory of this process.
type memory struct{}

var memoryFiles = struct {
	sync.Mutex
	content map[string][]byte // by cleaned path; never changed once stored
}{content: map[string][]byte{}}

func memoryURL(name string) string { return "mem://" + name }

func (m memory) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	return m.OpenRandom(ctx, name)
}

// OpenRandom opens a file for reading at any offset.
func (memory) OpenRandom(_ context.Context, name string) (RandomReader, error) {
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

func (memory) Create(_ context.Context, name string) (Writer, error) {
	return &memoryWriter{name: path.Clean(name)}, nil
}

type memoryWriter struct {
	bytes.Buffer
	name string
	done bool
}

// Commit makes the file exist with what was written.
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

func (memory) Exists(_ context.Context, name string) (bool, error) {
	memoryFiles.Lock()
	defer memoryFiles.Unlock()
	_, found := memoryFiles.content[path.Clean(name)]
	return found, nil
}

func (memory) Remove(_ context.Context, name string) error {
	memoryFiles.Lock()
	defer memoryFiles.Unlock()
	delete(memoryFiles.content, path.Clean(name))
	return nil
}

// RemoveAll removes a file or a folder and all below it.
func (memory) RemoveAll(_ context.Context, name string) error {
	memoryFiles.Lock()
	defer memoryFiles.Unlock()
	folder := path.Clean(name)
	for file := range memoryFiles.content {
		if file == folder || strings.HasPrefix(file, folder+"/") {
			delete(memoryFiles.content, file)
		}
	}
	return nil
}

// List returns the files below a folder, in any order.
func (memory) List(_ context.Context, name string) ([]string, error) {
	memoryFiles.Lock()
	defer memoryFiles.Unlock()
	var urls []string
	for file := range memoryFiles.content {
		if strings.HasPrefix(file, path.Clean(name)+"/") {
			urls = append(urls, memoryURL(file))
		}
	}
	return urls, nil
}

// CompareAndSwap replaces the content if it is old; nil stands for no file.
func (memory) CompareAndSwap(_ context.Context, name string, old, replacement []byte) (bool, error) {
	memoryFiles.Lock()
	defer memoryFiles.Unlock()
	name = path.Clean(name)
	current, found := memoryFiles.content[name]
	if found != (old != nil) || !bytes.Equal(current, old) {
		return false, nil
	}
	if replacement == nil {
		delete(memoryFiles.content, name)
	} else {
		memoryFiles.content[name] = slices.Clone(replacement)
	}
	return true, nil
}

func (memory) CheckWritable(context.Context, string) error { return nil }
