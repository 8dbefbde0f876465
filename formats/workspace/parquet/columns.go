package parquet

import (
	"reflect"
	"regexp"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// columnKind is the type of a column, and how field c of rows is appended to it and loaded from it.
type columnKind struct {
	arrow.DataType
	add  func(to array.Builder, rows reflect.Value, c int)
	load func(f *ColumnFile, group, c int, rows reflect.Value) error
}

// columnKinds are the types of columns by the kinds of fields.
var columnKinds = map[reflect.Kind]columnKind{
	reflect.String:  kindOf(arrow.BinaryTypes.String, (*array.StringBuilder).Append, reflect.Value.String, reflect.Value.SetString),
	reflect.Bool:    kindOf(arrow.FixedWidthTypes.Boolean, (*array.BooleanBuilder).Append, reflect.Value.Bool, reflect.Value.SetBool),
	reflect.Int64:   kindOf(arrow.PrimitiveTypes.Int64, (*array.Int64Builder).Append, reflect.Value.Int, reflect.Value.SetInt),
	reflect.Float64: kindOf(arrow.PrimitiveTypes.Float64, (*array.Float64Builder).Append, reflect.Value.Float, reflect.Value.SetFloat),
	reflect.Int32: kindOf(arrow.PrimitiveTypes.Int32, (*array.Int32Builder).Append,
		func(field reflect.Value) int32 { return int32(field.Int()) }, func(field reflect.Value, n int32) { field.SetInt(int64(n)) }),
	reflect.Float32: kindOf(arrow.PrimitiveTypes.Float32, (*array.Float32Builder).Append,
		func(field reflect.Value) float32 { return float32(field.Float()) }, func(field reflect.Value, x float32) { field.SetFloat(float64(x)) }),
}

func kindOf[B array.Builder, T ColumnValue](column arrow.DataType, add func(B, T), get func(reflect.Value) T, set func(reflect.Value, T)) columnKind {
	return columnKind{
		DataType: column,
		add: func(to array.Builder, rows reflect.Value, c int) {
			for i := range rows.Len() {
				field := rows.Index(i).Field(c)
				if field.Kind() == reflect.Pointer {
					if field.IsNil() {
						to.AppendNull()
						continue
					}
					field = field.Elem()
				}
				add(to.(B), get(field))
			}
		},
		load: func(f *ColumnFile, group, c int, rows reflect.Value) error {
			return loadValues(f, group, c, rows, set)
		},
	}
}

// kindOfField returns the kind of the column of a field, and whether it may be null.
func kindOfField(field reflect.Type) (kind columnKind, nullable bool) {
	if field.Kind() == reflect.Pointer {
		return columnKinds[field.Elem().Kind()], true
	}
	return columnKinds[field.Kind()], false
}

// wordEnd matches the end of a word within a field's name.
var wordEnd = regexp.MustCompile("([a-z])([A-Z])")

// The keys of a file's metadata that name its table and the version of its columns.
const schemaKey, versionKey = "tagnet.schema", "tagnet.version"

// schemaOf returns the schema of a table: a column for each field of its rows.
func schemaOf[R Row]() *arrow.Schema {
	var row R
	fields := reflect.VisibleFields(reflect.TypeOf(row))
	columns := make([]arrow.Field, len(fields))
	for i, f := range fields {
		columns[i].Name = strings.ToLower(wordEnd.ReplaceAllString(f.Name, "${1}_$2"))
		kind, nullable := kindOfField(f.Type)
		columns[i].Type, columns[i].Nullable = kind.DataType, nullable
	}
	table := row.table()
	metadata := arrow.NewMetadata([]string{schemaKey, versionKey}, []string{table.Name, table.Version})
	return arrow.NewSchema(columns, &metadata)
}

// loadValues sets field c of rows, as many as a row group has, to the values of column c.
func loadValues[T ColumnValue](f *ColumnFile, group, c int, rows reflect.Value, set func(reflect.Value, T)) error {
	column, err := ColumnOf[T](f, group, c)
	for at := 0; err == nil && at < rows.Len(); {
		var values []T
		var nulls []bool
		values, nulls, err = column.Next()
		for i, value := range values {
			field := rows.Index(at + i).Field(c)
			if nulls != nil && nulls[i] {
				continue
			}
			if field.Kind() == reflect.Pointer {
				field.Set(reflect.New(field.Type().Elem()))
				field = field.Elem()
			}
			set(field, value)
		}
		at += len(values)
	}
	return err
}
