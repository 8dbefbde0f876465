package tables

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// MaxBatch is the limit of a record batch in bytes, encoded or decoded. Elements of Beam should stay
// far below it.
const MaxBatch = 1 << 28

// checksumLength is the length of the checksum at the end of an element: the CRC-32C of all bytes
// before it, little-endian.
const checksumLength = 4

// EncodeBatch encodes rows as an element for Beam: an Arrow IPC stream of their schema and
// one record batch, not compressed, and a checksum.
func EncodeBatch(rows arrow.Record) ([]byte, error) {
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(rows.Schema()))
	if err := w.Write(rows); err != nil {
		return nil, fmt.Errorf("encoding a batch of %d rows: %w", rows.NumRows(), err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("encoding a batch of %d rows: %w", rows.NumRows(), err)
	}
	if out.Len() > MaxBatch {
		return nil, fmt.Errorf("a batch of %d rows takes %d bytes, more than %d; use smaller batches", rows.NumRows(), out.Len(), MaxBatch)
	}
	return binary.LittleEndian.AppendUint32(out.Bytes(), crc(out.Bytes())), nil
}

// DecodeBatch is the inverse of EncodeBatch. It returns an error if the bytes are not a batch, if the
// batch would take more than MaxBatch, or if it has nulls that its schema does not allow.
func DecodeBatch(data []byte) (arrow.Record, error) {
	end := len(data) - checksumLength
	if end < 0 || end > MaxBatch || crc(data[:end]) != binary.LittleEndian.Uint32(data[end:]) {
		return nil, fmt.Errorf("decoding a batch: the %d bytes are not a batch or are damaged", len(data))
	}
	data = data[:end]
	length, err := messageLength(data)
	var rows arrow.Record
	if err == nil {
		rows, err = decodeMessages(data[:length], data[length:])
	}
	if err != nil {
		return nil, fmt.Errorf("decoding a batch: %w", err)
	}
	return rows, nil
}

// decodeMessages decodes a schema message and the record batch that follows it.
func decodeMessages(schema, batch []byte) (rows arrow.Record, err error) {
	err = guard(func() error {
		for _, message := range [][]byte{schema, batch} {
			if _, err := messageLength(message); err != nil {
				return err
			}
		}
		stream := io.MultiReader(bytes.NewReader(schema), bytes.NewReader(batch))
		r, err := ipc.NewReader(stream, ipc.WithAllocator(&boundedMemory{left: MaxBatch}))
		if err != nil {
			return damaged("%v", err)
		}
		defer r.Release()
		if !r.Next() {
			return damaged("it holds no batch (%v)", r.Err())
		}
		rows = r.Record()
		rows.Retain()
		return noNulls(rows)
	})
	return rows, err
}

// decodeSchema decodes the schema message of a file.
func decodeSchema(message []byte) (schema *arrow.Schema, err error) {
	err = guard(func() error {
		if _, err := messageLength(message); err != nil {
			return err
		}
		r, err := ipc.NewReader(bytes.NewReader(message), ipc.WithAllocator(&boundedMemory{left: MaxBatch}))
		if err != nil {
			return damaged("%v", err)
		}
		defer r.Release()
		schema = r.Schema()
		return nil
	})
	return schema, err
}

// messageLength returns the length of the Arrow message at the start of some bytes, without the body
// of a record batch. Checking it keeps Arrow from allocating more than there are bytes.
func messageLength(message []byte) (int, error) {
	const start = 8 // continuation marker and length
	if len(message) < start || binary.LittleEndian.Uint32(message) != 0xffffffff {
		return 0, damaged("no Arrow message begins where one should")
	}
	length := int64(binary.LittleEndian.Uint32(message[4:]))
	if length < 8 || length > int64(len(message)-start) {
		return 0, damaged("an Arrow message of %d bytes has only %d", length, len(message)-start)
	}
	return start + int(length), nil
}

// boundedMemory allocates up to a total limit and panics beyond it, which guard recovers from. It
// keeps a forged length from exhausting the memory.
type boundedMemory struct {
	memory.GoAllocator
	left int
}

func (b *boundedMemory) Allocate(size int) []byte {
	b.take(size)
	return b.GoAllocator.Allocate(size)
}

func (b *boundedMemory) Reallocate(size int, old []byte) []byte {
	b.take(size - len(old))
	return b.GoAllocator.Reallocate(size, old)
}

func (b *boundedMemory) take(size int) {
	if size > b.left {
		panic(fmt.Sprintf("it would take %d bytes more than %d", size-b.left, MaxBatch))
	}
	b.left -= size
}
