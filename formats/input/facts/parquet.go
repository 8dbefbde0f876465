package facts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	arrow "github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"tagnet/formats/input/triples"
	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/parquet"
)

// rowsPerCheck is how many rows are read before the next look at whether the context is canceled.
const rowsPerCheck = 1 << 10

// readParquet reads the three columns of a Parquet file. Rows are counted from 1.
func readParquet(ctx context.Context, url string, r storage.RandomReader, o Options, each Each, bad Bad) (Counts, error) {
	t := parquetTable{url: url, each: each, bad: bad}
	err := parquet.ReadColumns(r, func(f *parquet.ColumnFile) error { return t.read(ctx, f, o) })
	var lacking unreadable
	switch {
	case t.callError != nil: // of each, bad or the context: returned as it is
		return Counts{}, t.callError
	case errors.As(err, &lacking):
		return Counts{}, fmt.Errorf("%s: %w", url, lacking.error)
	case err != nil:
		return Counts{}, fmt.Errorf("reading %s: not a Parquet file, or damaged (%v); write it again", url, err)
	}
	return Counts{Unread: columnsOf(t.unread)}, nil
}

type parquetTable struct {
	url       string
	each      Each
	bad       Bad
	callError error
	row       int
	unread    []unread
}

// unreadable is the error of a Parquet file without facts that can be read.
type unreadable struct{ error }

// read calls each of the table for every row. Its error is unreadable if the columns do not fit.
func (t *parquetTable) read(ctx context.Context, f *parquet.ColumnFile, o Options) error {
	root := f.Schema.Root()
	names := make([]string, root.NumFields())
	for i := range names {
		names[i] = root.Field(i).Name()
	}
	at, err := choose(o.Columns, names)
	if err != nil {
		return unreadable{err}
	}
	if f.GetNumRows() == 0 || hasNulls(f.Schema, names, at) {
		return unreadable{fmt.Errorf("%w; it needs rows of head, relation and tail", triples.ErrEmpty)}
	}
	t.unread = unreadOf(names, names, at)
	var chosen [3]int
	for i, position := range at {
		chosen[i] = f.Schema.ColumnIndexByName(names[position])
		if chosen[i] < 0 || !holdsNames(f.Schema.Column(chosen[i])) {
			return unreadable{remedy.Errorf(remedy.Do("names are strings or integers: choose others with %v", columnsFlag),
				"column %q has the type %s", names[position], typeOf(root.Field(position)))}
		}
	}
	for group := range f.GetRowGroups() {
		if err := t.group(ctx, f, group, chosen); err != nil || t.callError != nil {
			return err
		}
	}
	return nil
}

// hasNulls reports whether one of the columns holds nothing but nulls by its type: what writers give a
// column that has no value.
func hasNulls(s *schema.Schema, names []string, at [3]int) bool {
	return slices.ContainsFunc(at[:], func(position int) bool {
		column := s.ColumnIndexByName(names[position])
		if column < 0 {
			return false
		}
		_, null := s.Column(column).LogicalType().(schema.NullLogicalType)
		return null
	})
}

// group reads the rows of a row group.
func (t *parquetTable) group(ctx context.Context, f *parquet.ColumnFile, group int, chosen [3]int) error {
	// Each of the three columns is read by a cursor.
	var next [3]cursor
	for i, column := range chosen {
		chunk, err := f.RowGroup(group).ColumnChunk(column)
		if err != nil {
			return err
		}
		if _, err := compress.GetCodec(chunk.Compression()); err != nil && chunk.Compression() != parquet.LZ4Raw {
			return unreadable{fmt.Errorf("a column is compressed with %s, which cannot be read; write the file again with zstd, snappy or gzip",
				chunk.Compression())}
		}
		if next[i], err = namesOf(f, group, column); err != nil {
			return err
		}
	}
	// A row takes a value of each cursor; a null makes it a bad line.
	for range f.RowGroup(group).NumRows() {
		if t.row++; t.row%rowsPerCheck == 0 {
			if t.callError = context.Cause(ctx); t.callError != nil {
				return nil
			}
		}
		var names [3]string
		null := -1
		for i, next := range next {
			name, found, err := next()
			if err != nil {
				return err
			}
			names[i] = name
			if !found {
				null = i
			}
		}
		if null >= 0 {
			t.callError = t.bad(triples.BadLine{File: t.url, Line: t.row, Reason: "the " + [3]string{"head", "relation", "tail"}[null] + " of this row is null",
				Remedy: remedy.Do("leave such rows out")})
		} else {
			t.callError = t.each(t.row, Fact{names[0], names[1], names[2]})
		}
		if t.callError != nil {
			return nil
		}
	}
	return nil
}

// cursor returns the name in the next row of a column, or false if it is null.
type cursor func() (name string, found bool, err error)

// namesOf returns a cursor over a column of a row group. Integers may be without a sign, such as hashes.
func namesOf(f *parquet.ColumnFile, group, column int) (cursor, error) {
	unsigned := isUnsigned(f.Schema.Column(column))
	switch physical := f.Schema.Column(column).PhysicalType(); {
	case physical == arrow.Types.Int32 && unsigned:
		return cursorOf(f, group, column, func(n int32) string { return strconv.FormatUint(uint64(uint32(n)), 10) })
	case physical == arrow.Types.Int32:
		return cursorOf(f, group, column, func(n int32) string { return strconv.FormatInt(int64(n), 10) })
	case physical == arrow.Types.Int64 && unsigned:
		return cursorOf(f, group, column, func(n int64) string { return strconv.FormatUint(uint64(n), 10) })
	case physical == arrow.Types.Int64:
		return cursorOf(f, group, column, func(n int64) string { return strconv.FormatInt(n, 10) })
	}
	return cursorOf(f, group, column, func(name string) string { return name })
}

// cursorOf returns a function that returns the next value of a column as a name; found is false for a null.
func cursorOf[T parquet.ColumnValue](f *parquet.ColumnFile, group, column int, text func(T) string) (cursor, error) {
	chunk, err := parquet.ColumnOf[T](f, group, column)
	var values []T
	var nulls []bool
	return func() (name string, found bool, err error) {
		if len(values) == 0 {
			if values, nulls, err = chunk.Next(); err != nil {
				return "", false, err
			}
		}
		value, null := values[0], false
		values = values[1:]
		if nulls != nil {
			null, nulls = nulls[0], nulls[1:]
		}
		return text(value), !null, nil
	}, err
}

// holdsNames reports whether the values of a column can be names: strings or integers, not dates or lists.
func holdsNames(c *schema.Column) bool {
	if c.MaxRepetitionLevel() > 0 {
		return false
	}
	logical := c.LogicalType()
	plain := logical.IsNone() || !logical.IsValid()
	switch c.PhysicalType() {
	case arrow.Types.ByteArray:
		switch logical.(type) {
		case schema.StringLogicalType, schema.EnumLogicalType, schema.UnknownLogicalType:
			return true
		}
		return plain
	case arrow.Types.Int32, arrow.Types.Int64:
		_, integer := logical.(*schema.IntLogicalType)
		return integer || plain
	}
	return false
}

// isUnsigned reports whether a column has integers without a sign.
func isUnsigned(c *schema.Column) bool {
	integer, ok := c.LogicalType().(*schema.IntLogicalType)
	return ok && !integer.IsSigned()
}

func typeOf(field schema.Node) string {
	primitive, ok := field.(*schema.PrimitiveNode)
	switch {
	case !ok:
		return "group"
	case field.LogicalType() != nil && field.LogicalType().IsValid() && !field.LogicalType().IsNone():
		return field.LogicalType().String()
	}
	return primitive.PhysicalType().String()
}
