package scoring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"tagnet/formats/storage"
	"tagnet/pipelines/internal/cli/command"
)

// StandardInput is the value of a flag that names a file, for what is piped into the command.
const StandardInput = "-"

// ReadOnce calls read with the file of a flag, or standard input, and its name. It reads the file from its beginning to its end,
// as a pipe must be, and does not wait for a pipe's other end longer than ctx lasts.
func ReadOnce[T any](ctx context.Context, flag, url string, read func(name string, r io.Reader) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	// Opening a pipe waits for its writer, and cannot be interrupted.
	go func() {
		var r result
		if url == StandardInput {
			r.value, r.err = read("standard input", os.Stdin)
			done <- r
			return
		}
		var file io.ReadCloser
		if file, r.err = storage.OpenStream(ctx, url); r.err != nil {
			r.err = &openError{r.err}
		} else {
			r.value, r.err = read(url, file)
			file.Close()
		}
		done <- r
	}()
	// An error of opening names the flag, an error of reading the line.
	select {
	case r := <-done:
		failed := new(openError)
		switch {
		case errors.As(r.err, &failed) && errors.Is(r.err, fs.ErrNotExist):
			return r.value, command.MissingFile(flag, url, r.err)
		case errors.As(r.err, &failed):
			return r.value, fmt.Errorf("reading --%s: %w", flag, r.err)
		}
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// openError is the error of a file that cannot be opened.
type openError struct{ error }

func (e *openError) Unwrap() error { return e.error }
