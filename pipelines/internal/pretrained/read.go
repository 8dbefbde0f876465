package pretrained

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"tagnet/formats/storage"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/progress"
)

// mostBytes is the size of the largest file that is read. It is held in memory.
const mostBytes = 1 << 30

// read returns the content of a file that a flag names. What is not a regular file is an error: it may have no end.
func read(ctx context.Context, flag, url string) ([]byte, error) {
	if info, err := os.Stat(url); err == nil && !info.Mode().IsRegular() {
		return nil, command.Usage("--%s: %s is not a regular file (%s)", flag, url, info.Mode().Type())
	}
	file, err := storage.OpenRandom(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, command.MissingFile(flag, url, err)
	}
	if err != nil {
		return nil, fmt.Errorf("reading --%s: %w", flag, err)
	}
	defer file.Close()
	if file.Size() > mostBytes {
		return nil, command.Usage("--%s: %s has %s bytes, at most %s are read", flag, url, progress.Count(file.Size()), progress.Count(mostBytes))
	}
	content := make([]byte, file.Size())
	if _, err := io.ReadFull(file, content); err != nil {
		return nil, fmt.Errorf("reading --%s: %s: %w", flag, url, err)
	}
	return content, nil
}
