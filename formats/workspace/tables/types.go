package tables

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

var typesSchema = newSchema("types", []arrow.Field{
	int32Field("entity"), {Name: "type", Type: arrow.BinaryTypes.String},
})

// typesOrder checks what readers of types rely on: no negative id, rows sorted by (type, entity), and no duplicates.
type typesOrder struct {
	rows   int64
	entity int32 // of the previous row
	name   string
}

// next checks that a row follows the one before by type, then entity.
func (o *typesOrder) next(entity int32, name string) error {
	switch {
	case entity < 0:
		return fmt.Errorf("type %q has a negative id", name)
	case o.rows > 0 && (name < o.name || name == o.name && entity <= o.entity):
		return fmt.Errorf("entity %d of type %q is out of order or a duplicate", entity, name)
	}
	o.rows++
	o.entity, o.name = entity, name
	return nil
}

// TypesWriter writes which entities have which type, in the order of types' names and entities.
type TypesWriter struct {
	*tableWriter
	entities []int32 // of the pending batch
	names    *array.StringBuilder
	order    typesOrder
}

// CreateTypes begins a file of types.
func CreateTypes(ctx context.Context, url string) (w *TypesWriter, err error) {
	w = &TypesWriter{names: array.NewStringBuilder(memory.DefaultAllocator)}
	w.tableWriter, err = createTable(ctx, url, typesSchema, func() []arrow.Array {
		columns := []arrow.Array{int32s(w.entities), w.names.NewArray()}
		w.entities = w.entities[:0] // Arrow has encoded them before the next row is added
		return columns
	})
	return w, err
}

// Write appends a row: the entity has the type of that name. Rows out of order are an error.
func (w *TypesWriter) Write(entity int32, name string) error {
	if err := w.order.next(entity, name); err != nil {
		return w.refuse("%v", err)
	}
	w.entities = append(w.entities, entity)
	w.names.Append(name)
	return w.count(len(name))
}

// Type is a type with its entities, in the order of their ids.
type Type struct {
	Name     string
	Entities []int32
}

// ReadTypes reads a file of types, in the order of their names, and verifies its order.
func ReadTypes(ctx context.Context, url string) ([]Type, error) {
	var types []Type
	var order typesOrder
	err := readTable(ctx, url, typesSchema, nil, func(rows arrow.Record) error {
		entities, names := int32Values(rows, 0), rows.Column(1).(*array.String)
		for i, entity := range entities {
			name := names.Value(i)
			if last := len(types) - 1; last < 0 || types[last].Name != name {
				types = append(types, Type{Name: string([]byte(name))}) // a copy, so that the batch's memory can be freed
			}
			last := &types[len(types)-1]
			if err := order.next(entity, last.Name); err != nil {
				return err
			}
			last.Entities = append(last.Entities, entity)
		}
		return nil
	})
	return types, err
}
