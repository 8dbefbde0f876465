package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/parquet/metadata"
)

// ColumnSource is the content of a Parquet file.
type ColumnSource interface {
	io.ReaderAt
	Size() int64
}

// ColumnFile is an open Parquet file: its footer, with the schema.
type ColumnFile struct {
	*metadata.FileMetaData
	source ColumnSource
}

const (
	magic, magicEncrypted = "PAR1", "PARE"
	endLength             = 4 + len(magic) // the length of the footer, and the magic
)

// ReadColumns calls read with a Parquet file. The caller says in which file an error is.
func ReadColumns(source ColumnSource, read func(*ColumnFile) error) error {
	return guard(func() error {
		f, err := openColumns(source)
		if err != nil {
			return err
		}
		return read(f)
	})
}

// guard turns a panic into an error. Arrow panics on some footers whose parts contradict each other, and some
// decompressors do on their input.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("its content is inconsistent (%v)", p)
		}
	}()
	return f()
}

func footerOffset(source ColumnSource) (int64, error) {
	end, err := span(source, source.Size()-int64(endLength), int64(endLength))
	switch {
	case err != nil:
		return 0, err
	case string(end[4:]) == magicEncrypted:
		return 0, errors.New("it is encrypted")
	case string(end[4:]) != magic:
		return 0, errors.New("its end is not that of a Parquet file")
	}
	start := source.Size() - int64(endLength) - int64(binary.LittleEndian.Uint32(end))
	if start < int64(len(magic)) {
		return 0, errors.New("its footer is longer than the file")
	}
	return start, nil
}

func openColumns(source ColumnSource) (*ColumnFile, error) {
	start, err := footerOffset(source)
	if err != nil {
		return nil, err
	}
	footer, err := span(source, start, source.Size()-int64(endLength)-start)
	if err != nil {
		return nil, err
	}
	if err := checkFooter(footer); err != nil {
		return nil, err
	}
	m, err := metadata.NewFileMetaData(footer, nil)
	if err != nil {
		return nil, err
	}
	if m.Schema == nil {
		return nil, errors.New("it has no schema")
	}
	return &ColumnFile{m, source}, nil
}

// span reads bytes of a file.
func span(source ColumnSource, offset, length int64) ([]byte, error) {
	if offset < 0 || length < 0 || offset > source.Size() || length > source.Size()-offset {
		return nil, fmt.Errorf("it is cut short: it has %d bytes, and no %d at %d", source.Size(), length, offset)
	}
	data := make([]byte, length)
	_, err := io.ReadFull(io.NewSectionReader(source, offset, length), data)
	return data, err
}
