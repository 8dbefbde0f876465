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

// maxBatch is the limit of a record batch in bytes, encoded or decoded.
const maxBatch = 1 << 28

// decodeMessages decodes a schema message and the record batch that follows it.
func decodeMessages(schema, batch []byte) (rows arrow.Record, err error) {
	err = decodeStream(func(r *ipc.Reader) error {
		if !r.Next() {
			return damaged("it holds no batch (%v)", r.Err())
		}
		rows = r.Record()
		rows.Retain()
		return noNulls(rows)
	}, schema, batch)
	return rows, err
}

func decodeSchema(message []byte) (schema *arrow.Schema, err error) {
	err = decodeStream(func(r *ipc.Reader) error {
		schema = r.Schema()
		return nil
	}, message)
	return schema, err
}

// decodeStream calls read with a reader of messages.
func decodeStream(read func(*ipc.Reader) error, messages ...[]byte) error {
	return guard(func() error {
		var stream []io.Reader
		for _, message := range messages {
			if err := checkMessage(message); err != nil {
				return err
			}
			stream = append(stream, bytes.NewReader(message))
		}
		r, err := ipc.NewReader(io.MultiReader(stream...), ipc.WithAllocator(&boundedMemory{left: maxBatch}))
		if err != nil {
			return damaged("%v", err)
		}
		defer r.Release()
		return read(r)
	})
}

// checkMessage checks the length of the Arrow message at the start of some bytes, without the body of a record batch,
// and keeps Arrow from allocating more than there are bytes.
func checkMessage(message []byte) error {
	const start = 8 // continuation marker and length
	if len(message) < start || binary.LittleEndian.Uint32(message) != 0xffffffff {
		return damaged("no Arrow message begins where one should")
	}
	length := int64(binary.LittleEndian.Uint32(message[4:]))
	if length < 8 || length > int64(len(message)-start) {
		return damaged("an Arrow message of %d bytes has only %d", length, len(message)-start)
	}
	return nil
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
		panic(fmt.Sprintf("it would take %d bytes more than %d", size-b.left, maxBatch))
	}
	b.left -= size
}
