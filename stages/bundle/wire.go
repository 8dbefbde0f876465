package bundle

import (
	"encoding/binary"
	"errors"
)

// encoder writes numbers as elements of pipelines have them: in 7 bits a byte, lists by their differences, so that ids
// that ascend take a byte or two.
type encoder struct{ bytes []byte }

func (e *encoder) numbers(all ...int) {
	for _, n := range all {
		e.bytes = binary.AppendVarint(e.bytes, int64(n))
	}
}

// lists appends the length of each list and the differences of its values, which are small for ascending ones.
func lists[T int32 | int64](e *encoder, all ...[]T) {
	for _, values := range all {
		e.bytes = binary.AppendUvarint(e.bytes, uint64(len(values)))
		last := T(0)
		for _, v := range values {
			e.bytes = binary.AppendVarint(e.bytes, int64(v)-int64(last))
			last = v
		}
	}
}

// decoder reads what an encoder wrote.
type decoder struct {
	bytes []byte
	err   error
}

// decodeAll decodes elements of one kind.
func decodeAll[T any](elements [][]byte, decode func([]byte) (T, error)) (list []T, err error) {
	for _, element := range elements {
		one, err := decode(element)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, nil
}

// errElement is the error of an element that no encoder wrote.
var errElement = errors.New("an element of the pipeline is damaged")

// number returns the next number, 0 after an error.
func (d *decoder) number() int64 {
	n, size := binary.Varint(d.bytes)
	if size <= 0 {
		d.bytes, d.err = nil, errElement
		return 0
	}
	d.bytes = d.bytes[size:]
	return n
}

// listOf returns a list, or nil for an empty one.
func listOf[T int32 | int64](d *decoder) []T {
	n, size := binary.Uvarint(d.bytes)
	if size <= 0 || n > uint64(len(d.bytes)) { // each value takes a byte
		d.bytes, d.err = nil, errElement
		return nil
	}
	d.bytes = d.bytes[size:]
	if n == 0 {
		return nil
	}
	values, last := make([]T, n), T(0)
	for i := range values {
		last += T(d.number())
		values[i] = last
	}
	return values
}
