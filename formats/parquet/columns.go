package parquet

import (
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// table is a table's name and how its columns lie in a row.
type table[R any] struct {
	name    string
	columns []column[R]
}

// column moves one field of a row into an Arrow column and back.
type column[R any] struct {
	field  arrow.Field
	append func(to array.Builder, row *R)
	load   func(from arrow.Array, i int, row *R)
}

func textColumn[R any](name string, at func(*R) *string) column[R] {
	return column[R]{
		arrow.Field{Name: name, Type: arrow.BinaryTypes.String},
		func(to array.Builder, row *R) { to.(*array.StringBuilder).Append(*at(row)) },
		// The clone lets go of the column's memory.
		func(from arrow.Array, i int, row *R) { *at(row) = strings.Clone(from.(*array.String).Value(i)) },
	}
}

func int64Column[R any](name string, at func(*R) *int64) column[R] {
	return column[R]{
		arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64},
		func(to array.Builder, row *R) { to.(*array.Int64Builder).Append(*at(row)) },
		func(from arrow.Array, i int, row *R) { *at(row) = from.(*array.Int64).Value(i) },
	}
}

func int32Column[R any](name string, at func(*R) *int32) column[R] {
	return column[R]{
		arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int32},
		func(to array.Builder, row *R) { to.(*array.Int32Builder).Append(*at(row)) },
		func(from arrow.Array, i int, row *R) { *at(row) = from.(*array.Int32).Value(i) },
	}
}

func float64Column[R any](name string, at func(*R) *float64) column[R] {
	return column[R]{
		arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64},
		func(to array.Builder, row *R) { to.(*array.Float64Builder).Append(*at(row)) },
		func(from arrow.Array, i int, row *R) { *at(row) = from.(*array.Float64).Value(i) },
	}
}

func float32Column[R any](name string, at func(*R) *float32) column[R] {
	return column[R]{
		arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float32},
		func(to array.Builder, row *R) { to.(*array.Float32Builder).Append(*at(row)) },
		func(from arrow.Array, i int, row *R) { *at(row) = from.(*array.Float32).Value(i) },
	}
}

func boolColumn[R any](name string, at func(*R) *bool) column[R] {
	return column[R]{
		arrow.Field{Name: name, Type: arrow.FixedWidthTypes.Boolean},
		func(to array.Builder, row *R) { to.(*array.BooleanBuilder).Append(*at(row)) },
		func(from arrow.Array, i int, row *R) { *at(row) = from.(*array.Boolean).Value(i) },
	}
}

// schema is the table's Arrow schema, with its name and version as metadata.
func (t table[R]) schema() *arrow.Schema {
	fields := make([]arrow.Field, len(t.columns))
	for i, c := range t.columns {
		fields[i] = c.field
	}
	metadata := arrow.NewMetadata([]string{"tagnet.schema", "tagnet.version"}, []string{t.name, "1"})
	return arrow.NewSchema(fields, &metadata)
}
