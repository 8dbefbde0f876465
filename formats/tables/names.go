package tables

import (
	"context"
	"fmt"
	"strings"

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

// WriteNames writes names whose position is their id: Entities or Relations, as the schema
// says. A name that stands twice is an error.
func WriteNames(ctx context.Context, url, schema string, names []string) error {
	seen := make(map[string]int, len(names))
	for id, name := range names {
		if first, found := seen[name]; found {
			return fmt.Errorf("writing %s: %q stands twice, as id %d and %d", url, name, first, id)
		}
		seen[name] = id
	}
	return writeTable(ctx, url, namesSchema(schema), len(names), func(id int) int { return len(names[id]) }, func(from, to int) []arrow.Array {
		b := array.NewStringBuilder(memory.DefaultAllocator)
		defer b.Release()
		b.AppendValues(names[from:to], nil)
		return []arrow.Array{b.NewArray()}
	})
}

// ReadNames reads what WriteNames wrote under the same schema. A damaged file, or one of
// another table, is an error that names it.
func ReadNames(ctx context.Context, url, schema string) ([]string, error) {
	var names []string
	start := func(rows int) { names = make([]string, 0, rows) }
	err := readTable(ctx, url, namesSchema(schema), start, func(rows arrow.Record) error {
		column := rows.Column(0).(*array.String)
		for i := range column.Len() {
			// The clone lets go of the batch's memory.
			names = append(names, strings.Clone(column.Value(i)))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return names, nil
}
