package facts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"tagnet/formats/storage"
	"tagnet/formats/triples"
)

// rowsPerBatch is how many rows of a Parquet file are decoded at a time.
const rowsPerBatch = 1 << 14

// readParquet reads the three columns of a Parquet file. Rows are counted from 1.
func readParquet(ctx context.Context, url string, r storage.RandomReader, o Options, each Each, bad Bad) (err error) {
	var own error // of each and bad, which is returned as it is
	defer func() {
		if p := recover(); p != nil { // Arrow panics on files whose parts contradict each other
			err = fmt.Errorf("%v", p)
		}
		if own != nil {
			err = own
		} else if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("reading %s: not a Parquet file, or damaged (%v); write it again", url, err)
		}
	}()
	table, err := file.NewParquetReader(r)
	if err != nil {
		return err
	}
	defer table.Close()
	reader, err := pqarrow.NewFileReader(table, pqarrow.ArrowReadProperties{BatchSize: rowsPerBatch}, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	schema, err := reader.Schema()
	if err != nil {
		return err
	}
	names := make([]string, len(schema.Fields()))
	for i, f := range schema.Fields() {
		names[i] = f.Name
	}
	at, wrong := choose(o.Columns, names)
	if wrong != nil {
		own = fmt.Errorf("%s: %w", url, wrong)
		return nil
	}
	leaves := make([]int, 0, len(at))
	for _, column := range at {
		if !holdsNames(schema.Field(column).Type) {
			own = fmt.Errorf("%s: column %q has the type %s; names are strings or integers (--columns)", url, names[column], schema.Field(column).Type)
			return nil
		}
		leaf := table.MetaData().Schema.ColumnIndexByName(names[column])
		if leaf < 0 {
			own = fmt.Errorf("%s: column %q cannot be read (--columns)", url, names[column])
			return nil
		}
		leaves = append(leaves, leaf)
	}
	if table.NumRows() == 0 {
		own = fmt.Errorf("%s: %w; it needs rows of head, relation and tail", url, triples.ErrEmpty)
		return nil
	}
	batches, err := reader.GetRecordReader(ctx, leaves, nil)
	if err != nil {
		return err
	}
	defer batches.Release()
	row := 0
	for batches.Next() {
		if err := context.Cause(ctx); err != nil {
			own = err
			return nil
		}
		batch := batches.Record()
		var columns [3]arrow.Array
		for i, column := range at {
			position := batch.Schema().FieldIndices(names[column])
			columns[i] = batch.Column(position[0])
		}
		for i := range int(batch.NumRows()) {
			row++
			if own = readRow(url, row, columns, i, each, bad); own != nil {
				return nil
			}
		}
	}
	if err := batches.Err(); !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// readRow reads a row of a batch.
func readRow(url string, row int, columns [3]arrow.Array, i int, each Each, bad Bad) error {
	var names [3]string
	for j, column := range columns {
		if column.IsNull(i) {
			return bad(triples.BadLine{File: url, Line: row, Reason: "the " + [3]string{"head", "relation", "tail"}[j] + " of this row is null", Remedy: "leave such rows out"})
		}
		names[j] = strings.Clone(valueOf(column, i))
	}
	return each(row, Fact{names[0], names[1], names[2]})
}

// valueOf returns a string or an integer as text.
func valueOf(column arrow.Array, i int) string {
	switch c := column.(type) {
	case *array.String:
		return c.Value(i)
	case *array.LargeString:
		return c.Value(i)
	case *array.Binary:
		return c.ValueString(i)
	case *array.LargeBinary:
		return c.ValueString(i)
	case *array.Dictionary:
		return valueOf(c.Dictionary(), c.GetValueIndex(i))
	}
	return column.ValueStr(i)
}

// holdsNames reports whether the values of a type can be names.
func holdsNames(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.BINARY, arrow.LARGE_BINARY:
		return true
	case arrow.DICTIONARY:
		return holdsNames(t.(*arrow.DictionaryType).ValueType)
	}
	return arrow.IsInteger(t.ID())
}
