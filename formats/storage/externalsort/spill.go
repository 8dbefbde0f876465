package externalsort

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"tagnet/formats/storage"
)

// Spill is sorted records in a section of a spill file. It is an element of pipelines.
type Spill struct {
	// URL is the file; Offset and Length are the section in bytes.
	URL            string
	Offset, Length int64
	// Records is their number.
	Records int64
	// Checksum is the CRC-32C of the section.
	Checksum uint32
	// Tag tells several kinds of records apart that are merged together.
	Tag int
}

// bufferBytes is the size of the buffer of each open file.
const bufferBytes = 1 << 16

// Writer writes sorted records to a spill file, as one Spill or as several in a row.
type Writer[T any] struct {
	kind   Kind[T]
	codec  codec[T]
	out    storage.Writer
	buffer *bufio.Writer
	record []byte
	spill  Spill
}

// Create begins a spill file of a kind of records.
func Create[T any](ctx context.Context, url string, k Kind[T]) (*Writer[T], error) {
	out, err := storage.Create(ctx, url)
	if err != nil {
		return nil, err
	}
	return &Writer[T]{kind: k, codec: k.codec(), out: out, buffer: bufio.NewWriterSize(out, bufferBytes), spill: Spill{URL: url}}, nil
}

// Write appends a record, which must not sort before the previous one.
func (w *Writer[T]) Write(record T) error {
	w.record = w.codec.append(w.record[:0], record)
	w.spill.Records++
	w.spill.Length += int64(len(w.record))
	w.spill.Checksum = storage.CRC32C(w.spill.Checksum, w.record)
	_, err := w.buffer.Write(w.record)
	return err
}

// Cut ends a Spill and begins the next. It returns the one that ended, which can be read after Commit.
func (w *Writer[T]) Cut() Spill {
	ended := w.spill
	w.codec, w.spill = w.kind.codec(), Spill{URL: ended.URL, Offset: ended.Offset + ended.Length}
	return ended
}

// Commit completes the file.
func (w *Writer[T]) Commit() error {
	if err := w.buffer.Flush(); err != nil {
		return err
	}
	return w.out.Commit()
}

// Abort drops the file; after Commit it does nothing.
func (w *Writer[T]) Abort() error { return w.out.Abort() }

// reader reads the records of a Spill in order.
type reader[T any] struct {
	codec  codec[T]
	spill  Spill
	file   io.Closer
	sum    *storage.CRC32CReader
	buffer *bufio.Reader
	read   int64
}

// openSpill opens a spill for a merge; its reader verifies the CRC32C after the last record.
func openSpill[T any](ctx context.Context, s Spill, k Kind[T]) (*reader[T], error) {
	file, err := storage.OpenRandom(ctx, s.URL)
	if err != nil {
		return nil, err
	}
	sum := &storage.CRC32CReader{Reader: io.NewSectionReader(file, s.Offset, s.Length)}
	return &reader[T]{codec: k.codec(), spill: s, file: file, sum: sum, buffer: bufio.NewReaderSize(sum, bufferBytes)}, nil
}

// next returns the next record, a view until the next call, or false after the last one.
func (r *reader[T]) next() (record T, found bool, err error) {
	if r.read == r.spill.Records {
		if _, err = r.buffer.ReadByte(); err == nil || errors.Is(err, io.EOF) && r.sum.Sum != r.spill.Checksum {
			err = errDamaged
		}
		if errors.Is(err, io.EOF) {
			return record, false, nil
		}
	} else {
		r.read++
		if record, err = r.codec.read(r.buffer); err == nil {
			return record, true, nil
		}
	}
	if errors.Is(err, errDamaged) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("reading %s: the file is cut short or has changed since it was written: does another run write to the same workspace?", r.spill.URL)
	}
	return record, false, err
}

// errDamaged is the error of a section that does not hold the records that were written.
var errDamaged = errors.New("damaged")
