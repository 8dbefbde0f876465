package safetensors

import (
	"context"
	"errors"
	"fmt"
	"math"

	"tagnet/formats/internal/checksum"
	"tagnet/formats/storage"
)

// Tensor is a named array of float32, row-major. A scalar has an empty shape and one value.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
}

// ErrDamaged is wrapped by the errors of a file that was changed since it was written.
var ErrDamaged = errors.New("the checkpoint is cut short or damaged")

// The keys of the metadata that Write adds and Read removes.
const (
	checksumKey   = "tagnet.sha256"
	versionKey    = "tagnet.version"
	formatVersion = "1"
)

// Write writes tensors in their order, with metadata. Names must differ, and shapes must match the
// lengths of their data. The file appears whole or not at all.
func Write(ctx context.Context, url string, tensors []Tensor, metadata map[string]string) error {
	header, size, err := encodeHeader(tensors, metadata)
	if err != nil {
		return fmt.Errorf("writing %s: %w", url, err)
	}
	data := make([]byte, 0, size)
	for _, t := range tensors {
		data = appendFloats(data, t.Data)
	}
	if err := checksum.Set(header, checksumKey, data); err != nil {
		return fmt.Errorf("writing %s: %w", url, err)
	}
	w, err := storage.Create(ctx, url)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, part := range [][]byte{header, data} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return w.Commit()
}

// Read reads a file that Write wrote: the tensors in their order and the metadata. It returns an error
// if the file was changed since, or written by another program; ReadForeign accepts the latter.
func Read(ctx context.Context, url string) ([]Tensor, map[string]string, error) {
	return read(ctx, url, func(header, data []byte) error {
		err := checksum.Verify(header, checksumKey, data)
		if errors.Is(err, checksum.ErrMissing) {
			return fmt.Errorf("%w, as this project's checkpoints do: %w", err, ErrDamaged)
		}
		if err != nil {
			return fmt.Errorf("%w (%w)", ErrDamaged, err)
		}
		return nil
	})
}

// ReadForeign reads any safetensors file of F32 or F64 tensors, such as those of PyTorch. It detects a
// truncated file, but not a changed byte.
func ReadForeign(ctx context.Context, url string) ([]Tensor, map[string]string, error) {
	return read(ctx, url, func(header, data []byte) error { return nil })
}

func read(ctx context.Context, url string, verify func(header, data []byte) error) ([]Tensor, map[string]string, error) {
	file, err := storage.ReadFile(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	header, data, err := cutHeader(file)
	if err == nil {
		err = verify(header, data)
	}
	var entries []entry
	var metadata map[string]string
	if err == nil {
		entries, metadata, err = decodeHeader(header, int64(len(data)))
	}
	if err == nil {
		if version, found := metadata[versionKey]; found && version != formatVersion {
			err = fmt.Errorf("it has version %q, this program reads %q", version, formatVersion)
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", url, err)
	}
	delete(metadata, checksumKey)
	delete(metadata, versionKey)
	tensors := make([]Tensor, len(entries))
	for i, e := range entries {
		tensors[i] = Tensor{Name: e.name, Shape: e.Shape, Data: floats(e.DType, data[e.Offsets[0]:e.Offsets[1]])}
	}
	return tensors, metadata, nil
}

// elements returns the number of values of a shape, or false if the shape is not valid.
func elements(shape []int) (int, bool) {
	size := 1
	for _, n := range shape {
		if n < 0 || n > 0 && size > math.MaxInt32*8/n {
			return 0, false
		}
		size *= n
	}
	return size, true
}
