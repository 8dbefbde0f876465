package storage

import (
	"context"
	"io"
)

// Interruptible returns a reader of r that ends with the error of ctx once that is done, for a file that is read for
// long without an element in between at which the context is looked at.
func Interruptible(ctx context.Context, r io.Reader) io.Reader { return interruptible{ctx, r} }

type interruptible struct {
	ctx context.Context
	io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
