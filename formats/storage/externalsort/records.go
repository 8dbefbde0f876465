package externalsort

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
)

// Kind says how records of a type are compared and encoded in spill files.
type Kind[T any] struct {
	// codec returns a codec for a new Spill.
	codec   func() codec[T]
	compare func(a, b T) int
	// distinct, unless nil, wraps a function that receives sorted records, to drop those that equal the one before.
	distinct func(each func(T, int) error) func(T, int) error
}

// codec encodes or decodes the records of a Spill in order.
type codec[T any] interface {
	append(buffer []byte, record T) []byte
	// read returns a view until the next call.
	read(r *bufio.Reader) (T, error)
}

// Rows are delivered all, equal ones as often as they were written.
var Rows = Kind[Row]{
	codec:   func() codec[Row] { return rowCodec{} },
	compare: Row.Compare,
}

type rowCodec struct{}

func (rowCodec) append(buffer []byte, r Row) []byte {
	for _, id := range r {
		buffer = binary.LittleEndian.AppendUint32(buffer, uint32(id))
	}
	return buffer
}

// read returns the next row, and io.EOF at the end.
func (rowCodec) read(r *bufio.Reader) (row Row, err error) {
	encoded, err := r.Peek(RowBytes)
	if err != nil {
		return row, err
	}
	for i := range row {
		row[i] = int32(binary.LittleEndian.Uint32(encoded[4*i:]))
	}
	_, err = r.Discard(RowBytes)
	return row, err
}

// FactRows are delivered all, like Rows.
var FactRows = Kind[FactRow]{
	codec:   func() codec[FactRow] { return numbersCodec[FactRow]{func(r *FactRow) []int32 { return r[:] }} },
	compare: FactRow.Compare,
}

// RankedRows are delivered all, like Rows.
var RankedRows = Kind[RankedRow]{
	codec:   func() codec[RankedRow] { return numbersCodec[RankedRow]{func(r *RankedRow) []int32 { return r[:] }} },
	compare: RankedRow.Compare,
}

// numbersCodec encodes records that are arrays of numbers.
type numbersCodec[T any] struct{ numbers func(*T) []int32 }

func (c numbersCodec[T]) append(buffer []byte, record T) []byte {
	buffer, _ = binary.Append(buffer, binary.LittleEndian, c.numbers(&record))
	return buffer
}

// read returns the next record, and io.EOF at the end.
func (c numbersCodec[T]) read(r *bufio.Reader) (record T, err error) {
	numbers := c.numbers(&record)
	encoded, err := r.Peek(4 * len(numbers))
	if err != nil {
		return record, err
	}
	for i := range numbers {
		numbers[i] = int32(binary.LittleEndian.Uint32(encoded[4*i:]))
	}
	_, err = r.Discard(4 * len(numbers))
	return record, err
}

// Names are delivered once each, in byte order.
var Names = Kind[[]byte]{
	codec:   func() codec[[]byte] { return new(nameCodec) },
	compare: bytes.Compare,
	distinct: func(each func([]byte, int) error) func([]byte, int) error {
		var last []byte
		first := true
		return func(name []byte, tag int) error {
			if !first && bytes.Equal(name, last) {
				return nil
			}
			first, last = false, append(last[:0], name...)
			return each(name, tag)
		}
	},
}

// nameCodec writes a name as the number of bytes that it shares with the previous one, the number
// of the other bytes, both as uvarints, and those bytes.
type nameCodec struct{ last []byte }

// append encodes a name by the number of bytes it shares with the name before, and the rest.
func (c *nameCodec) append(buffer []byte, name []byte) []byte {
	shared := 0
	for shared < min(len(name), len(c.last)) && name[shared] == c.last[shared] {
		shared++
	}
	c.last = append(c.last[:shared], name[shared:]...)
	buffer = binary.AppendUvarint(buffer, uint64(shared))
	buffer = binary.AppendUvarint(buffer, uint64(len(name)-shared))
	return append(buffer, name[shared:]...)
}

// maxName is the longest name, as a line of a text is no longer.
const maxName = 1 << 20

// read returns the next name, a view until the next call, and io.EOF at the end.
func (c *nameCodec) read(r *bufio.Reader) ([]byte, error) {
	shared, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	rest, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	if shared > uint64(len(c.last)) || rest > maxName {
		return nil, errDamaged
	}
	c.last = append(c.last[:shared], make([]byte, rest)...)
	_, err = io.ReadFull(r, c.last[shared:])
	return c.last, err
}
