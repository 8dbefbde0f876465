package storagetest

import (
	"context"
	"io"
	"strings"

	"tagnet/formats/storage"
)

// Over is the storage of a scheme that keeps its files in another one. Tests embed it, and replace some of its methods.
type Over struct {
	// Scheme begins the URLs of this storage, Base those of the other one, such as mem://.
	Scheme, Base string
}

// Open opens a file of Base.
func (o Over) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	return storage.Open(ctx, o.Base+path)
}

// OpenRandom opens a file of Base.
func (o Over) OpenRandom(ctx context.Context, path string) (storage.RandomReader, error) {
	return storage.OpenRandom(ctx, o.Base+path)
}

// Create creates a file of Base.
func (o Over) Create(ctx context.Context, path string) (storage.Writer, error) {
	return storage.Create(ctx, o.Base+path)
}

// Exists reports whether a file of Base exists.
func (o Over) Exists(ctx context.Context, path string) (bool, error) {
	return storage.Exists(ctx, o.Base+path)
}

// Remove removes a file of Base.
func (o Over) Remove(ctx context.Context, path string) error {
	return storage.Remove(ctx, o.Base+path)
}

// RemoveAll removes a folder of Base.
func (o Over) RemoveAll(ctx context.Context, path string) error {
	return storage.RemoveAll(ctx, o.Base+path)
}

// List returns the URLs of files of Base, as those of Scheme.
func (o Over) List(ctx context.Context, path string) ([]string, error) {
	urls, err := storage.List(ctx, o.Base+path)
	for i, url := range urls {
		urls[i] = o.Scheme + strings.TrimPrefix(url, o.Base)
	}
	return urls, err
}

// CheckWritable checks a folder of Base.
func (o Over) CheckWritable(ctx context.Context, path string) error {
	return storage.CheckWritable(ctx, o.Base+path)
}

// CompareAndSwap replaces a file of Base.
func (o Over) CompareAndSwap(ctx context.Context, path string, old, replacement []byte) (bool, error) {
	return storage.CompareAndSwap(ctx, o.Base+path, old, replacement)
}
