package tables

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"tagnet/formats/storage"
)

// tableReader reads the record batches of a file that a tableWriter wrote.
type tableReader struct {
	url   string
	file  storage.RandomReader
	frame frame
}

// openTable verifies the frame of a file and calls check, which returns an error if the schema is not
// the expected table's. Batches are verified as they are read.
func openTable(ctx context.Context, url string, check func(*arrow.Schema) error) (*tableReader, error) {
	file, err := storage.OpenRandom(ctx, url)
	if err != nil {
		return nil, err
	}
	frame, err := readSchema(file, check)
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("reading %s: %w", url, err)
	}
	return &tableReader{url, file, frame}, nil
}

// readSchema reads the frame of a file and checks its schema.
func readSchema(file storage.RandomReader, check func(*arrow.Schema) error) (frame, error) {
	f, err := readFrame(file, file.Size())
	if err != nil {
		return f, err
	}
	schema, err := decodeSchema(f.schema)
	if err != nil {
		return f, err
	}
	return f, check(schema)
}

func (r *tableReader) close() error { return r.file.Close() }

// batch reads, verifies and decodes the i-th record batch.
func (r *tableReader) batch(i int) (arrow.Record, error) {
	rows, err := r.decode(i)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", r.url, err)
	}
	return rows, nil
}

// decode is batch without the URL in errors.
func (r *tableReader) decode(i int) (arrow.Record, error) {
	b := r.frame.blocks[i]
	encoded, err := readAt(r.file, b.Offset, b.Length)
	if err != nil {
		return nil, err
	}
	if crc(encoded) != b.Checksum {
		return nil, damaged("the checksum of batch %d does not match", i)
	}
	rows, err := decodeMessages(r.frame.schema, encoded)
	if err != nil {
		return nil, err
	}
	if rows.NumRows() != int64(b.Rows) {
		return nil, damaged("batch %d has %d rows instead of %d", i, rows.NumRows(), b.Rows)
	}
	return rows, nil
}

// readTable calls each for every record batch of a file. Before that it calls start, unless that is
// nil, with the number of rows.
func readTable(ctx context.Context, url string, schema *arrow.Schema, start func(rows int64), each func(rows arrow.Record) error) error {
	return eachBatch(ctx, url, func(got *arrow.Schema) error { return sameTable(got, schema) }, start, each)
}

// countRows returns the number of rows of a table. It reads the frame of the file only.
func countRows(ctx context.Context, url string, schema *arrow.Schema) (int64, error) {
	r, err := openTable(ctx, url, func(got *arrow.Schema) error { return sameTable(got, schema) })
	if err != nil {
		return 0, err
	}
	defer r.close()
	return r.frame.rows, nil
}

// mostRowsPerByte bounds the rows that a byte of a compressed table stands for: a trailer that declares more is forged,
// and must not make a reader reserve memory for them.
const mostRowsPerByte = 64

// eachBatch reads a file like readTable, but check accepts its schema or returns an error.
func eachBatch(ctx context.Context, url string, check func(*arrow.Schema) error, start func(rows int64), each func(rows arrow.Record) error) error {
	r, err := openTable(ctx, url, check)
	if err != nil {
		return err
	}
	defer r.close()
	if start != nil {
		start(min(r.frame.rows, mostRowsPerByte*r.file.Size()))
	}
	for i := range r.frame.blocks {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("reading %s: %w", url, err)
		}
		rows, err := r.batch(i)
		if err != nil {
			return err
		}
		if err := guard(func() error { return each(rows) }); err != nil {
			return fmt.Errorf("reading %s: %w", url, err)
		}
	}
	return nil
}

// guard turns a panic into an error. Arrow's arrays panic if their offsets are wrong, which only a
// forged file can cause.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = damaged("its content is inconsistent (%v)", p)
		}
	}()
	return f()
}
