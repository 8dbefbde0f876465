package pretrained

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"tagnet/formats/pytorch"
	"tagnet/formats/storage"
	"tagnet/model/checkpoint"
	"tagnet/model/zoo"
)

// FileError is the error of a file that Open cannot use.
type FileError struct {
	// URL is the file.
	URL    string
	Reason error
	// Other reports that another file has to be named, rather than this one mended.
	Other bool
}

// Error names the file and what is wrong with it.
func (e *FileError) Error() string { return e.URL + ": " + e.Reason.Error() }

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Reason }

// IsFile reports whether a path is that of a file of PyTorch, by its ending, rather than that of a checkpoint.
func IsFile(path string) bool {
	return strings.HasSuffix(path, ".pth") || strings.HasSuffix(path, ".pt")
}

// IsNamed reports whether a name is that of a model of package zoo, in upper or lower case.
func IsNamed(name string) bool {
	return slices.ContainsFunc(zoo.Names, func(known string) bool { return strings.EqualFold(known, name) })
}

// Open opens a model of package zoo by its name, a checkpoint by the path or URL of its file .safetensors or of the file best, or a file of
// PyTorch with ULTRA's weights. Errors of files are a *FileError.
func Open(ctx context.Context, url string) (*Weights, error) {
	switch {
	case IsNamed(url):
		return openNamed(url)
	case strings.HasSuffix(url, ".safetensors"), storage.Base(url) == checkpoint.BestFile:
		return openCheckpoint(ctx, url)
	}
	data, err := read(ctx, url)
	if err != nil {
		return nil, err
	}
	file, err := pytorch.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, &FileError{URL: url, Reason: err}
	}
	w, err := ofULTRA(url, data, file)
	if err != nil {
		return nil, &FileError{URL: url, Reason: err}
	}
	return w, nil
}

// mostBytes is the size of the largest file that is read. It is held in memory.
const mostBytes = 1 << 30

// read returns the content of a file. What is not a regular file is an error: it may have no end.
func read(ctx context.Context, url string) ([]byte, error) {
	if info, err := os.Stat(url); err == nil && !info.Mode().IsRegular() {
		return nil, &FileError{url, fmt.Errorf("it is not a regular file (%s)", info.Mode().Type()), true}
	}
	file, err := storage.OpenRandom(ctx, url)
	if err != nil {
		return nil, &FileError{URL: url, Reason: err}
	}
	defer file.Close()
	if file.Size() > mostBytes {
		return nil, &FileError{url, fmt.Errorf("it has %d bytes, at most %d are read", file.Size(), mostBytes), true}
	}
	content := make([]byte, file.Size())
	if _, err := io.ReadFull(file, content); err != nil {
		return nil, &FileError{URL: url, Reason: err}
	}
	return content, nil
}
