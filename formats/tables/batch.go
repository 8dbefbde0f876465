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

// MaxBatch is the most bytes that one record batch may take, encoded or decoded. Beam's
// elements should stay far below it.
const MaxBatch = 1 << 30

// EncodeBatch encodes rows as an Arrow IPC stream of their schema and one record batch, not
// compressed: an element for Beam.
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
	return out.Bytes(), nil
}

// DecodeBatch is the inverse of EncodeBatch. The rows may share memory with the data. Bytes
// that are no batch, or one that would take more than MaxBatch, are an error.
func DecodeBatch(data []byte) (arrow.Record, error) {
	if len(data) > MaxBatch {
		return nil, fmt.Errorf("decoding a batch: %d bytes are more than %d", len(data), MaxBatch)
	}
	rows, err := decodeMessages(data)
	if err != nil {
		return nil, fmt.Errorf("decoding a batch: %w", err)
	}
	return rows, nil
}

// decodeMessages decodes the one record batch of an IPC stream given in parts.
func decodeMessages(parts ...[]byte) (rows arrow.Record, err error) {
	err = guard(func() error {
		readers := make([]io.Reader, len(parts))
		for i, part := range parts {
			if err := checkMessage(part); err != nil {
				return err
			}
			readers[i] = bytes.NewReader(part)
		}
		r, err := ipc.NewReader(io.MultiReader(readers...), ipc.WithAllocator(&boundedMemory{left: MaxBatch}))
		if err != nil {
			return damaged("%v", err)
		}
		defer r.Release()
		if !r.Next() {
			return damaged("it holds no batch (%v)", r.Err())
		}
		rows = r.Record()
		rows.Retain()
		return nil
	})
	return rows, err
}

// decodeSchema decodes the schema message of a file.
func decodeSchema(message []byte) (schema *arrow.Schema, err error) {
	err = guard(func() error {
		if err := checkMessage(message); err != nil {
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

// checkMessage keeps Arrow from making room for a message longer than the bytes at hand.
func checkMessage(message []byte) error {
	const start = 8 // continuation marker and length
	if len(message) < start || binary.LittleEndian.Uint32(message) != 0xffffffff {
		return damaged("no Arrow message begins where one should")
	}
	if length := int64(binary.LittleEndian.Uint32(message[4:])); length < 8 || length > int64(len(message)-start) {
		return damaged("an Arrow message of %d bytes has only %d", length, len(message)-start)
	}
	return nil
}

// boundedMemory allocates up to a limit in all and panics beyond it; guard catches that. It
// keeps a forged length from taking all memory.
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

// decodeTable decodes an element of a known table and hands its rows on.
func decodeTable(data []byte, schema *arrow.Schema, each func(rows arrow.Record)) error {
	rows, err := DecodeBatch(data)
	if err != nil {
		return err
	}
	if err := sameTable(rows.Schema(), schema); err != nil {
		return fmt.Errorf("decoding a batch: %w", err)
	}
	return guard(func() error {
		if err := noNulls(rows); err != nil {
			return err
		}
		each(rows)
		return nil
	})
}
