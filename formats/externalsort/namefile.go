package externalsort

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"tagnet/formats/storage"
)

// NameWriter writes names in byte order to a file, as one run. A name is the number of bytes that
// it shares with the one before, that of the others, both as uvarints, and those.
type NameWriter struct {
	out  storage.Writer
	text *bufio.Writer
	run  Run
	last []byte
	line []byte
}

// CreateNames begins a run of names.
func CreateNames(ctx context.Context, url string) (*NameWriter, error) {
	out, err := storage.Create(ctx, url)
	if err != nil {
		return nil, err
	}
	return &NameWriter{out: out, run: Run{URL: url}, text: bufio.NewWriterSize(out, bufferBytes)}, nil
}

// Write appends a name, which comes after the one before.
func (w *NameWriter) Write(name []byte) error {
	shared := 0
	for shared < min(len(name), len(w.last)) && name[shared] == w.last[shared] {
		shared++
	}
	w.line = binary.AppendUvarint(w.line[:0], uint64(shared))
	w.line = binary.AppendUvarint(w.line, uint64(len(name)-shared))
	w.line = append(w.line, name[shared:]...)
	w.last = append(w.last[:shared], name[shared:]...)
	w.run.Rows++
	w.run.Checksum = crc32.Update(w.run.Checksum, castagnoli, w.line)
	_, err := w.text.Write(w.line)
	return err
}

// Commit ends the file and returns its run.
func (w *NameWriter) Commit() (Run, error) {
	if err := w.text.Flush(); err != nil {
		return w.run, err
	}
	return w.run, w.out.Commit()
}

// Abort drops the file; after Commit it does nothing.
func (w *NameWriter) Abort() error { return w.out.Abort() }

// NameReader reads the names of a run, in order.
type NameReader struct {
	run  Run
	file io.ReadCloser
	text *bufio.Reader
	left int64
	name []byte
	head []byte // of the line, encoded anew for the checksum
	sum  uint32
}

// OpenNames opens a run of names.
func OpenNames(ctx context.Context, run Run) (*NameReader, error) {
	file, err := storage.Open(ctx, run.URL)
	if err != nil {
		return nil, err
	}
	return &NameReader{run: run, file: file, text: bufio.NewReaderSize(file, bufferBytes), left: run.Rows}, nil
}

// longest bounds the names of a run: no line of a text is longer.
const longest = 1 << 20

// Next returns the next name, or false behind the last. The bytes are a view until the next call.
func (r *NameReader) Next() ([]byte, bool, error) {
	if r.left == 0 {
		if r.sum != r.run.Checksum {
			return nil, false, damaged(r.run.URL)
		}
		return nil, false, nil
	}
	shared, err1 := binary.ReadUvarint(r.text)
	rest, err2 := binary.ReadUvarint(r.text)
	if err := errors.Join(err1, err2); err != nil || shared > uint64(len(r.name)) || rest > longest {
		return nil, false, r.broken(err)
	}
	r.left--
	r.head = binary.AppendUvarint(r.head[:0], shared)
	r.head = binary.AppendUvarint(r.head, rest)
	r.name = append(r.name[:shared], make([]byte, rest)...)
	if _, err := io.ReadFull(r.text, r.name[shared:]); err != nil {
		return nil, false, r.broken(err)
	}
	r.sum = crc32.Update(r.sum, castagnoli, r.head)
	r.sum = crc32.Update(r.sum, castagnoli, r.name[shared:])
	return r.name, true, nil
}

// broken tells a file that is too short, or no run, from one that cannot be read.
func (r *NameReader) broken(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return damaged(r.run.URL)
	}
	return err
}

// Close closes the file.
func (r *NameReader) Close() error { return r.file.Close() }
