package externalsort

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"tagnet/formats/storage"
)

// Run is sorted rows in a file, or a part of it, and an element of pipelines.
type Run struct {
	// URL is the file, Offset where the rows begin in it.
	URL    string
	Offset int64
	// Rows is how many there are.
	Rows int64
	// Checksum is the CRC-32C of their bytes.
	Checksum uint32
	// Tag is what the rows are of, for those who merge runs of several kinds.
	Tag int
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// bufferBytes is what is read or written at a time.
const bufferBytes = 1 << 16

// RowWriter writes sorted rows to a file, as one run or several on end.
type RowWriter struct {
	out    storage.Writer
	text   *bufio.Writer
	run    Run
	offset int64
}

// CreateRows begins a file of runs.
func CreateRows(ctx context.Context, url string) (*RowWriter, error) {
	out, err := storage.Create(ctx, url)
	if err != nil {
		return nil, err
	}
	w := &RowWriter{out: out, run: Run{URL: url}}
	w.text = bufio.NewWriterSize(out, bufferBytes)
	return w, nil
}

// Write appends a row, which does not come before the one before.
func (w *RowWriter) Write(r Row) error {
	var encoded [RowBytes]byte
	binary.LittleEndian.PutUint32(encoded[0:], uint32(r[0]))
	binary.LittleEndian.PutUint32(encoded[4:], uint32(r[1]))
	binary.LittleEndian.PutUint32(encoded[8:], uint32(r[2]))
	w.run.Rows++
	w.run.Checksum = crc32.Update(w.run.Checksum, castagnoli, encoded[:])
	w.offset += RowBytes
	_, err := w.text.Write(encoded[:])
	return err
}

// Cut ends a run and begins the next. It returns the one that ended; the file is whole, and the
// run there, after Commit.
func (w *RowWriter) Cut() Run {
	ended := w.run
	w.run = Run{URL: ended.URL, Offset: w.offset}
	return ended
}

// Commit ends the file.
func (w *RowWriter) Commit() error {
	if err := w.text.Flush(); err != nil {
		return err
	}
	return w.out.Commit()
}

// Abort drops the file; after Commit it does nothing.
func (w *RowWriter) Abort() error { return w.out.Abort() }

// RowReader reads the rows of a run, in order.
type RowReader struct {
	run      Run
	file     storage.RandomReader
	text     *bufio.Reader
	left     int64
	checksum uint32
}

// OpenRows opens a run.
func OpenRows(ctx context.Context, run Run) (*RowReader, error) {
	file, err := storage.OpenRandom(ctx, run.URL)
	if err != nil {
		return nil, err
	}
	part := io.NewSectionReader(file, run.Offset, run.Rows*RowBytes)
	return &RowReader{run: run, file: file, text: bufio.NewReaderSize(part, bufferBytes), left: run.Rows}, nil
}

// Next returns the next row, or false behind the last.
func (r *RowReader) Next() (Row, bool, error) {
	if r.left == 0 {
		if r.checksum != r.run.Checksum {
			return Row{}, false, damaged(r.run.URL)
		}
		return Row{}, false, nil
	}
	encoded, err := r.text.Peek(RowBytes)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = damaged(r.run.URL)
		}
		return Row{}, false, err
	}
	r.left--
	r.checksum = crc32.Update(r.checksum, castagnoli, encoded)
	row := Row{
		int32(binary.LittleEndian.Uint32(encoded)),
		int32(binary.LittleEndian.Uint32(encoded[4:])),
		int32(binary.LittleEndian.Uint32(encoded[8:])),
	}
	_, err = r.text.Discard(RowBytes)
	return row, true, err
}

// Close closes the file.
func (r *RowReader) Close() error { return r.file.Close() }

func damaged(url string) error {
	return fmt.Errorf("reading %s: it is cut short or changed since it was written: does another run write to the same workspace?", url)
}
