package tables

import (
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tagnet/formats/remedy"
)

// Version is the version of the layout of the tables that this package writes and reads, except tables of queries.
const Version = "1"

// The metadata of every schema name the table and the version of its layout.
const (
	schemaKey  = "tagnet.schema"
	versionKey = "tagnet.version"
)

// newSchema returns the schema of a table of Version. Further metadata are given as key, value, key, value.
func newSchema(name string, fields []arrow.Field, further ...string) *arrow.Schema {
	return versionedSchema(name, Version, fields, further...)
}

// versionedSchema returns a schema whose metadata have the table's name and version, and further keys
// and values in turn.
func versionedSchema(name, version string, fields []arrow.Field, further ...string) *arrow.Schema {
	keys, values := []string{schemaKey, versionKey}, []string{name, version}
	for i := 0; i < len(further); i += 2 {
		keys, values = append(keys, further[i]), append(values, further[i+1])
	}
	metadata := arrow.NewMetadata(keys, values)
	return arrow.NewSchema(fields, &metadata)
}

// sameTable returns an error unless a schema is the expected one: the table's name, its version and
// its columns. The table's own reader checks further metadata.
func sameTable(got, want *arrow.Schema) error {
	wantName, _ := want.Metadata().GetValue(schemaKey)
	if name, _ := got.Metadata().GetValue(schemaKey); name != wantName {
		return fmt.Errorf("it holds a table of %q, not of %q", name, wantName)
	}
	wantVersion, _ := want.Metadata().GetValue(versionKey)
	if version, _ := got.Metadata().GetValue(versionKey); version != wantVersion {
		return remedy.Errorf(remedy.Do("run the command that makes it with %v", remedy.Flag("force")),
			"its table of %q has version %q, this program reads %q", wantName, version, wantVersion)
	}
	same := len(got.Fields()) == len(want.Fields())
	for i := 0; same && i < len(got.Fields()); i++ {
		same = got.Field(i).Name == want.Field(i).Name && arrow.TypeEqual(got.Field(i).Type, want.Field(i).Type)
	}
	if !same {
		return damaged("its table of %q has the columns %s instead of %s", wantName, columnNames(got), columnNames(want))
	}
	return nil
}

func columnNames(s *arrow.Schema) string {
	var names []string
	for _, f := range s.Fields() {
		names = append(names, f.Name+" "+f.Type.String())
	}
	return "(" + strings.Join(names, ", ") + ")"
}

// noNulls returns an error if a column has nulls that its field does not allow.
func noNulls(rows arrow.Record) error {
	for i, column := range rows.Columns() {
		if column.NullN() != 0 && !rows.Schema().Field(i).Nullable {
			return damaged("column %s has nulls", rows.ColumnName(i))
		}
	}
	return nil
}

// int32s returns a slice as a column without copying it.
func int32s(values []int32) arrow.Array {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(values))}
	return array.NewInt32Data(array.NewData(arrow.PrimitiveTypes.Int32, len(values), buffers, nil, 0, 0))
}

func int32Values(rows arrow.Record, column int) []int32 {
	return rows.Column(column).(*array.Int32).Int32Values()
}

func int32Field(name string) arrow.Field {
	return arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int32}
}
