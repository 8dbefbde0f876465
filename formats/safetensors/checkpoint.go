package safetensors

import (
	"errors"
	"fmt"
	"math"
)

// Tensor is a named array of float32, row-major. A scalar has an empty shape and one value.
type Tensor struct {
	Name  string
	Shape []int
	Data  []float32
}

// ErrDamaged is wrapped by the errors of a file that was changed since it was written.
var ErrDamaged = errors.New("the checkpoint is cut short or damaged")

// FormatVersion is the version of the files that Encode writes. Decode reads it, and files without one.
const FormatVersion = "1"

// The keys of the metadata that Encode adds and Decode removes.
const (
	versionKey = "tagnet.version"
	// checksumKey is in the files of earlier versions of tagnet; its value is not read.
	checksumKey = "tagnet.sha256"
)

// Encode returns a file with tensors in their order, and with metadata. Names must differ, and shapes
// must match the lengths of their data. The file has no checksum: what names it records its SHA-256.
func Encode(tensors []Tensor, metadata map[string]string) ([]byte, error) {
	header, size, err := encodeHeader(tensors, metadata)
	if err != nil {
		return nil, err
	}
	file := append(make([]byte, 0, int64(len(header))+size), header...)
	for _, t := range tensors {
		file = appendFloats(file, t.Data)
	}
	return file, nil
}

// Decode returns the tensors of a file in their order, and its metadata. It reads any safetensors file of
// F32 or F64 tensors, such as PyTorch writes. It detects a file that is cut short but not a flipped byte.
func Decode(file []byte) ([]Tensor, map[string]string, error) {
	header, data, err := cutHeader(file)
	if err != nil {
		return nil, nil, err
	}
	entries, metadata, err := decodeHeader(header, int64(len(data)))
	if err != nil {
		return nil, nil, err
	}
	if version, found := metadata[versionKey]; found && version != FormatVersion {
		return nil, nil, fmt.Errorf("it has version %q, known is %q", version, FormatVersion)
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
