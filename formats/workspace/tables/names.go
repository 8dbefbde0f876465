package tables

import (
	"bytes"
	"context"
	"fmt"
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

// namesOrder checks what readers of names rely on: byte order, no duplicates.
type namesOrder struct {
	names int64
	last  []byte
}

// next checks that a name follows the one before.
func (o *namesOrder) next(name []byte) error {
	if o.names > 0 {
		switch c := bytes.Compare(o.last, name); {
		case c == 0:
			return fmt.Errorf("%q is a duplicate, with ids %d and %d", name, o.names-1, o.names)
		case c > 0:
			return fmt.Errorf("%q, id %d, comes after %q: names are in byte order", name, o.names, o.last)
		}
	}
	o.names++
	o.last = append(o.last[:0], name...)
	return nil
}

// NamesWriter writes names in byte order. The position of a name is its id.
type NamesWriter struct {
	*tableWriter
	builder *array.StringBuilder // names of the pending batch
	order   namesOrder
}

// CreateNames begins a file of names: Entities or Relations, as the schema says.
func CreateNames(ctx context.Context, url, schema string) (w *NamesWriter, err error) {
	w = &NamesWriter{builder: array.NewStringBuilder(memory.DefaultAllocator)}
	w.tableWriter, err = createTable(ctx, url, namesSchema(schema), func() []arrow.Array {
		return []arrow.Array{w.builder.NewArray()}
	})
	return w, err
}

// Write appends a name. It returns an error if the name is a duplicate or out of order.
func (w *NamesWriter) Write(name []byte) error {
	if err := w.order.next(name); err != nil {
		return w.refuse("%v", err)
	}
	w.builder.BinaryBuilder.Append(name)
	return w.count(len(name))
}

// CountNames returns the number of names of a file. It reads the frame of the file only.
func CountNames(ctx context.Context, url, schema string) (int64, error) {
	return countRows(ctx, url, namesSchema(schema))
}

// EachName calls each for the names of a file, in the order of their ids, and verifies that order. The bytes are a view
// that is valid only during the call.
func EachName(ctx context.Context, url, schema string, each func(name []byte) error) error {
	var order namesOrder
	return readTable(ctx, url, namesSchema(schema), nil, func(rows arrow.Record) error {
		column := rows.Column(0).(*array.String)
		for i := range column.Len() {
			name := bytesOf(column.Value(i))
			if err := order.next(name); err != nil {
				return err
			}
			if err := each(name); err != nil {
				return err
			}
		}
		return nil
	})
}

// bytesOf returns the bytes of a text, as a view.
func bytesOf(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }

// ReadNames reads a file of names and verifies their order. It returns an error that names the file if the file is
// damaged or holds another table. The names of a batch share one allocation.
func ReadNames(ctx context.Context, url, schema string) ([]string, error) {
	var names []string
	start := func(rows int64) { names = make([]string, 0, rows) }
	err := readTable(ctx, url, namesSchema(schema), start, func(rows arrow.Record) error {
		// The names of a batch are views of one string.
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
	// The order is verified at the end, over all batches.
	var order namesOrder
	for _, name := range names {
		if err := order.next(bytesOf(name)); err != nil {
			return nil, fmt.Errorf("reading %s: %w", url, err)
		}
	}
	return names, nil
}

// NamesOf reads the names of some ids, ascending, by their ids. It reads the batches of the file that have one.
func NamesOf(ctx context.Context, url, schema string, ids []int32) (map[int32]string, error) {
	r, err := openTable(ctx, url, func(got *arrow.Schema) error { return sameTable(got, namesSchema(schema)) })
	if err != nil {
		return nil, err
	}
	defer r.close()
	names, first := make(map[int32]string, len(ids)), int64(0)
	// A batch without a wanted id is passed over; first is the id of its first name.
	for i, b := range r.frame.blocks {
		end := first + int64(b.Rows)
		if len(ids) == 0 || int64(ids[0]) >= end {
			first = end
			continue
		}
		rows, err := r.batch(i)
		if err != nil {
			return nil, err
		}
		err = guard(func() error {
			for column := rows.Column(0).(*array.String); len(ids) > 0 && int64(ids[0]) < end; ids = ids[1:] {
				names[ids[0]] = strings.Clone(column.Value(int(int64(ids[0]) - first)))
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", url, err)
		}
		first = end
	}
	if len(ids) > 0 {
		return nil, fmt.Errorf("reading %s: it has %d names, and none of id %d", url, first, ids[0])
	}
	return names, nil
}
