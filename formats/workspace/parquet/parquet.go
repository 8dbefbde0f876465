package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"tagnet/formats/storage"
)

const (
	// rowsPerGroup is the size of a row group, the unit in which other readers skip.
	rowsPerGroup = 1 << 17
	// dictionaryLimit is the length of a dictionary, in bytes, with which it overflows.
	dictionaryLimit = 1 << 20
)

// Write writes rows in their order as a Parquet file, zstd-compressed, which appears whole or
// not at all.
func Write[R Row](ctx context.Context, url string, rows []R) error {
	data, err := encode(rows)
	if err != nil {
		return fmt.Errorf("writing %s: %w", url, err)
	}
	return storage.WriteFile(ctx, url, data)
}

func encode[R Row](rows []R) ([]byte, error) {
	var out bytes.Buffer
	properties := []parquet.WriterProperty{
		parquet.WithCompression(compress.Codecs.Zstd), parquet.WithCompressionLevel(1), parquet.WithDictionaryPageSizeLimit(dictionaryLimit),
		parquet.WithDictionaryDefault(false),
		parquet.WithVersion(parquet.V2_LATEST), parquet.WithCreatedBy("tagnet"), parquet.WithMaxRowGroupLength(rowsPerGroup),
	}
	schema := schemaOf[R]()
	for c, column := range schema.Fields() { // numbers are shorter, and faster, without a dictionary
		if column.Type == arrow.BinaryTypes.String && !overflows(rows, c) {
			properties = append(properties, parquet.WithDictionaryFor(column.Name, true))
		}
	}
	w, err := pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(properties...), pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, err
	}
	for from := 0; from < len(rows); from += rowsPerGroup {
		if err := writeGroup(w, rows[from:min(from+rowsPerGroup, len(rows))]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return addChecksum(out.Bytes()), nil
}

// overflows reports whether the dictionary of a column of texts overflows in any row group. Arrow's writer then
// continues without it in the midst of the group and lists the two encodings of the pages in the order of a Go map, so
// that the same rows give different bytes.
func overflows[R Row](rows []R, column int) bool {
	for group := range slices.Chunk(rows, rowsPerGroup) {
		texts := reflect.ValueOf(group)
		seen := map[string]bool{}
		length := 0
		for i := range group {
			if text := texts.Index(i).Field(column).String(); !seen[text] {
				seen[text] = true
				length += 4 + len(text)
			}
			if length >= dictionaryLimit {
				return true
			}
		}
	}
	return false
}

func writeGroup[R Row](w *pqarrow.FileWriter, rows []R) error {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schemaOf[R]())
	defer b.Release()
	b.Reserve(len(rows))
	for c, column := range b.Fields() {
		kind, _ := kindOfField(reflect.TypeFor[R]().Field(c).Type)
		kind.add(column, reflect.ValueOf(rows), c)
	}
	record := b.NewRecord()
	defer record.Release()
	return w.Write(record)
}

// ErrVersion is wrapped by the errors of a table that another version of this program wrote with other columns.
var ErrVersion = errors.New("it was written by another version of this program")

// Read reads what Write wrote with the same type of row. A file that was changed since, or
// that another program wrote, is an error that names it.
func Read[R Row](ctx context.Context, url string) ([]R, error) {
	data, err := storage.ReadFile(ctx, url)
	if err != nil {
		return nil, err
	}
	rows, err := decode[R](data)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", url, err)
	}
	return rows, nil
}

func decode[R Row](data []byte) (rows []R, err error) {
	if err := verifyChecksum(data); err != nil {
		return nil, err
	}
	var other error // the file has another table
	err = ReadColumns(bytes.NewReader(data), func(f *ColumnFile) (err error) {
		if other = sameTable[R](f); other == nil {
			rows, err = readRows[R](f)
		}
		return err
	})
	switch {
	case other != nil:
		return nil, other
	case err != nil:
		return nil, fmt.Errorf("%w (%v)", ErrDamaged, err)
	}
	return rows, nil
}

// sameTable returns an error unless a file says that it has the table of a row.
func sameTable[R Row](f *ColumnFile) error {
	metadata := f.KeyValueMetadata()
	want := (*new(R)).table()
	if written := metadata.FindValue(schemaKey); written == nil || *written != want.Name {
		return fmt.Errorf("it does not hold a table of %s", want.Name)
	}
	if written := metadata.FindValue(versionKey); written == nil || *written != want.Version {
		return fmt.Errorf("%w: a table of %s with other columns", ErrVersion, want.Name)
	}
	return nil
}

func readRows[R Row](f *ColumnFile) ([]R, error) {
	want, err := pqarrow.ToParquet(schemaOf[R](), nil, pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, err
	}
	if !f.Schema.Equals(want) {
		return nil, fmt.Errorf("it has other columns: %s", f.Schema)
	}
	total := int64(0)
	for group := range f.GetRowGroups() {
		n := f.RowGroup(group).NumRows()
		if n < 0 || n > rowsPerGroup {
			return nil, fmt.Errorf("row group %d has %d rows, the limit is %d", group, n, rowsPerGroup)
		}
		total += n
	}
	if total != f.GetNumRows() {
		return nil, fmt.Errorf("its row groups have %d rows instead of %d", total, f.GetNumRows())
	}
	rows := make([]R, total)
	all := reflect.ValueOf(rows)
	for group := range f.GetRowGroups() {
		n := int(f.RowGroup(group).NumRows())
		for c := range f.Schema.NumColumns() {
			kind, _ := kindOfField(reflect.TypeFor[R]().Field(c).Type)
			if err := kind.load(f, group, c, all.Slice(0, n)); err != nil {
				return nil, fmt.Errorf("column %s: %w", f.Schema.Column(c).Name(), err)
			}
		}
		all = all.Slice(n, all.Len())
	}
	for i, row := range rows {
		if err := row.Check(); err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
		}
	}
	return rows, nil
}
