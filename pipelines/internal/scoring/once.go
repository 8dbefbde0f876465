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

// ReadOnce calls read with the file of a flag, or standard input, and its name. It reads the file from its beginning to
// its end, as a pipe must be, and does not wait for a pipe's other end longer than ctx lasts.
func ReadOnce[T any](ctx context.Context, flag, url string, read func(name string, r io.Reader) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	// Opening a pipe waits for its writer, and cannot be interrupted.
	go func() {
		name, r := "standard input", io.ReadCloser(os.Stdin)
		if url != StandardInput {
			file, err := storage.OpenStream(ctx, url)
			if err != nil { // which names the flag, and an error of reading the line
				done <- result{err: notOpened(flag, url, err)}
				return
			}
			defer file.Close()
			name, r = url, file
		}
		value, err := read(name, r)
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// notOpened returns the error of a file of a flag that cannot be opened.
func notOpened(flag, url string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return command.MissingFile(flag, url, err)
	}
	return fmt.Errorf("reading --%s: %w", flag, err)
}
