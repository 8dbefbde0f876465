package tables

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"tagnet/formats/storage"
)

// The record batches of all tables except distances have at most rowsPerBatch rows, and are written
// once their names or answers exceed a number of bytes. So a column stays below the 128 KiB of a zstd
// block, and zstd does not allocate a window of 8 MiB to write or to read it.
const (
	rowsPerBatch  = 32_000
	bytesPerBatch = 120_000
)

// tableWriter writes rows as an Arrow file with a trailer. It splits them into batches as they are added,
// and holds one batch and its encoding in memory.
type tableWriter struct {
	url     string
	schema  *arrow.Schema
	out     storage.Writer
	arrow   *ipc.FileWriter
	pending pendingBytes
	header  []byte
	entries []byte
	blocks  int

	rows, bytes int                  // that are pending
	key         int64                // of the current batch; see block
	columns     func() []arrow.Array // returns the columns of the pending rows and forgets the rows
}

// pendingBytes collects what Arrow writes until it is known which part of the file it belongs to.
type pendingBytes struct {
	bytes.Buffer
	flushed int64
}

// Seek only returns the position in the file, which is all that Arrow needs.
func (p *pendingBytes) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, fmt.Errorf("seeking to %d from %d in a file that is only appended to", offset, whence)
	}
	return p.flushed + int64(p.Len()), nil
}

// createTable begins a file. columns returns the pending rows as a batch.
func createTable(ctx context.Context, url string, schema *arrow.Schema, columns func() []arrow.Array) (*tableWriter, error) {
	out, err := storage.Create(ctx, url)
	if err != nil {
		return nil, err
	}
	w := &tableWriter{url: url, schema: schema, out: out, columns: columns}
	w.arrow, err = ipc.NewFileWriter(&w.pending, ipc.WithSchema(schema), ipc.WithZstd())
	if err != nil {
		out.Abort()
		return nil, fmt.Errorf("writing %s: %w", url, err)
	}
	return w, nil
}

// count counts a pending row. size is the number of its bytes that vary from row to row.
func (w *tableWriter) count(size int) error {
	w.rows++
	w.bytes += size
	if w.rows < rowsPerBatch && w.bytes < bytesPerBatch {
		return nil
	}
	return w.flush()
}

// flush writes the pending rows as one record batch.
func (w *tableWriter) flush() error {
	if w.rows == 0 {
		return nil
	}
	w.rows, w.bytes = 0, 0
	columns := w.columns()
	rows := array.NewRecord(w.schema, columns, int64(columns[0].Len()))
	if err := w.arrow.Write(rows); err != nil {
		return fmt.Errorf("writing %s: %w", w.url, err)
	}
	if err := w.takeHeader(); err != nil {
		return err
	}
	encoded := w.pending.Bytes()
	b := block{
		Offset: w.pending.flushed, Length: int64(len(encoded)), Key: w.key,
		Rows: uint32(rows.NumRows()), Checksum: crc(encoded),
	}
	w.entries, _ = binary.Append(w.entries, binary.LittleEndian, b)
	w.blocks++
	return w.take(len(encoded))
}

// takeHeader separates the magic and the schema message, which Arrow writes together with the first
// batch, or at the end of a file that has none.
func (w *tableWriter) takeHeader() error {
	if w.header != nil {
		return nil
	}
	start := w.pending.Bytes()
	length := headerStart + 8 + int(binary.LittleEndian.Uint32(start[headerStart+4:]))
	w.header = bytes.Clone(start[:length])
	return w.take(length)
}

// take writes the first pending bytes.
func (w *tableWriter) take(n int) error {
	_, err := w.out.Write(w.pending.Next(n))
	w.pending.flushed += int64(n)
	return err
}

// Commit writes the remaining rows, the trailer and the footer, and makes the file appear.
func (w *tableWriter) Commit() error {
	if err := w.flush(); err != nil {
		return err
	}
	if err := w.arrow.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", w.url, err)
	}
	if err := w.takeHeader(); err != nil {
		return err
	}
	footer := w.pending.Bytes()
	sum := frameChecksum(w.header, w.entries, w.blocks, footer)
	for _, part := range [][]byte{w.entries, tail(w.blocks, sum), footer} {
		if _, err := w.out.Write(part); err != nil {
			return err
		}
	}
	return w.out.Commit()
}

// Abort discards the file. After Commit it does nothing, so that it can be deferred.
func (w *tableWriter) Abort() error { return w.out.Abort() }

// refuse returns the error of a row that readers would not accept.
func (w *tableWriter) refuse(format string, arguments ...any) error {
	return fmt.Errorf("writing %s: %s", w.url, fmt.Sprintf(format, arguments...))
}
