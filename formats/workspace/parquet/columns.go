package parquet

import (
	"reflect"
	"regexp"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"tagnet/formats/internal/columns"
)

// columnTypes are the types of columns by the kinds of fields.
var columnTypes = map[reflect.Kind]arrow.DataType{
	reflect.String: arrow.BinaryTypes.String, reflect.Bool: arrow.FixedWidthTypes.Boolean,
	reflect.Int32: arrow.PrimitiveTypes.Int32, reflect.Int64: arrow.PrimitiveTypes.Int64,
	reflect.Float32: arrow.PrimitiveTypes.Float32, reflect.Float64: arrow.PrimitiveTypes.Float64,
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
		of := f.Type
		if columns[i].Nullable = of.Kind() == reflect.Pointer; columns[i].Nullable {
			of = of.Elem()
		}
		columns[i].Type = columnTypes[of.Kind()]
	}
	name, version := row.table()
	metadata := arrow.NewMetadata([]string{schemaKey, versionKey}, []string{name, version})
	return arrow.NewSchema(columns, &metadata)
}

// appendValue appends the value of a field to its column.
func appendValue(to array.Builder, field reflect.Value) {
	if field.Kind() == reflect.Pointer {
		if field.IsNil() {
			to.AppendNull()
			return
		}
		field = field.Elem()
	}
	switch to := to.(type) {
	case *array.StringBuilder:
		to.Append(field.String())
	case *array.BooleanBuilder:
		to.Append(field.Bool())
	case *array.Int32Builder:
		to.Append(int32(field.Int()))
	case *array.Int64Builder:
		to.Append(field.Int())
	case *array.Float32Builder:
		to.Append(float32(field.Float()))
	case *array.Float64Builder:
		to.Append(field.Float())
	}
}

// load sets field c of rows, as many as a row group has, to the values of column c.
func load(f *columns.File, group, c int, rows reflect.Value) error {
	kind := rows.Type().Elem().Field(c).Type
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	switch kind.Kind() {
	case reflect.String:
		return loadValues(f, group, c, rows, reflect.Value.SetString)
	case reflect.Bool:
		return loadValues(f, group, c, rows, reflect.Value.SetBool)
	case reflect.Int32:
		return loadValues(f, group, c, rows, func(field reflect.Value, n int32) { field.SetInt(int64(n)) })
	case reflect.Int64:
		return loadValues(f, group, c, rows, reflect.Value.SetInt)
	case reflect.Float32:
		return loadValues(f, group, c, rows, func(field reflect.Value, x float32) { field.SetFloat(float64(x)) })
	default:
		return loadValues(f, group, c, rows, reflect.Value.SetFloat)
	}
}

func loadValues[T columns.Value](f *columns.File, group, c int, rows reflect.Value, set func(reflect.Value, T)) error {
	column, err := columns.Of[T](f, group, c)
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
