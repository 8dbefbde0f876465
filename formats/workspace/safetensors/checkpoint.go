package safetensors

import (
	"errors"
	"fmt"
	"math"
)

// Tensor is a named array, row-major; one of float32 in a file. A scalar has an empty shape and one value.
type Tensor[F ~float32 | ~float64] struct {
	Name  string
	Shape []int
	Data  []F
}

// ErrDamaged is wrapped by the errors of a file that was changed since it was written.
var ErrDamaged = errors.New("the checkpoint is cut short or damaged")

// FormatVersion is the version of the files that Encode writes. Decode reads it, and files without one.
const FormatVersion = "1"

const versionKey = "tagnet.version"

// Encode returns a file with tensors in their order. Names must differ, and shapes must match the lengths of their
// data. The file has no checksum: what names it records its SHA-256.
func Encode(tensors []Tensor[float32]) ([]byte, error) {
	header, size, err := encodeHeader(tensors)
	if err != nil {
		return nil, err
	}
	file := append(make([]byte, 0, int64(len(header))+size), header...)
	for _, t := range tensors {
		file = appendFloats(file, t.Data)
	}
	return file, nil
}

// Decode returns the tensors of a file in their order. It reads any safetensors file of F32 or F64 tensors, such as
// PyTorch writes. It detects a file that is cut short but not a flipped byte.
func Decode(file []byte) ([]Tensor[float32], error) {
	header, data, err := cutHeader(file)
	if err != nil {
		return nil, err
	}
	entries, metadata, err := decodeHeader(header, int64(len(data)))
	if err != nil {
		return nil, err
	}
	if version, found := metadata[versionKey]; found && version != FormatVersion {
		return nil, fmt.Errorf("it has version %q, known is %q", version, FormatVersion)
	}
	tensors := make([]Tensor[float32], len(entries))
	for i, e := range entries {
		tensors[i] = Tensor[float32]{Name: e.name, Shape: e.Shape, Data: floats(e.DType, data[e.Offsets[0]:e.Offsets[1]])}
	}
	return tensors, nil
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
