package tables

import (
	"bytes"
	"context"
	"strings"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// The schema names of the two tables of names.
const (
	Entities  = "entities"
	Relations = "relations"
)

func namesSchema(schema string) *arrow.Schema {
	return newSchema(schema, []arrow.Field{{Name: "name", Type: arrow.BinaryTypes.String}})
}

// NamesWriter writes names in byte order. The position of a name is its id.
type NamesWriter struct {
	*tableWriter
	builder *array.StringBuilder // names of the pending batch
	names   int64
	last    []byte
}

// CreateNames begins a file of names: Entities or Relations, as the schema says.
func CreateNames(ctx context.Context, url, schema string) (*NamesWriter, error) {
	w := &NamesWriter{builder: array.NewStringBuilder(memory.DefaultAllocator)}
	var err error
	w.tableWriter, err = createTable(ctx, url, namesSchema(schema), func() []arrow.Array {
		return []arrow.Array{w.builder.NewArray()}
	})
	return w, err
}

// Write appends a name. It returns an error if the name is a duplicate or out of order.
func (w *NamesWriter) Write(name []byte) error {
	if w.names > 0 {
		switch c := bytes.Compare(w.last, name); {
		case c == 0:
			return w.refuse("%q is a duplicate, with ids %d and %d", name, w.names-1, w.names)
		case c > 0:
			return w.refuse("%q, id %d, comes after %q: names are in byte order", name, w.names, w.last)
		}
	}
	w.names++
	w.last = append(w.last[:0], name...)
	w.builder.BinaryBuilder.Append(name)
	return w.count(len(name))
}

// EachName calls each for the names of a file, in the order of their ids. The bytes are a view that
// is valid only during the call.
func EachName(ctx context.Context, url, schema string, each func(name []byte) error) error {
	return readTable(ctx, url, namesSchema(schema), nil, func(rows arrow.Record) error {
		column := rows.Column(0).(*array.String)
		for i := range column.Len() {
			name := column.Value(i)
			if err := each(unsafe.Slice(unsafe.StringData(name), len(name))); err != nil {
				return err
			}
		}
		return nil
	})
}

// ReadNames reads a file of names. It returns an error that names the file if the file is damaged or
// holds another table. The names of a batch share one allocation.
func ReadNames(ctx context.Context, url, schema string) ([]string, error) {
	var names []string
	start := func(rows int64) { names = make([]string, 0, rows) }
	err := readTable(ctx, url, namesSchema(schema), start, func(rows arrow.Record) error {
		column := rows.Column(0).(*array.String)
		length := 0
		for i := range column.Len() {
			length += len(column.Value(i))
		}
		var letters strings.Builder // a copy, so that the batch's memory can be freed
		letters.Grow(length)
		for i := range column.Len() {
			letters.WriteString(column.Value(i))
		}
		all := letters.String()
		for i := range column.Len() {
			n := len(column.Value(i))
			names = append(names, all[:n])
			all = all[n:]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return names, nil
}
