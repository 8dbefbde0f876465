package messages

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tagnet/formats/tables"
	"tagnet/model/configuration"
	"tagnet/model/messages"
)

// Counted is the queries of a source: the levels of each of them, which are the same, or, where
// each has a graph of its own because something is removed from it, the sum of theirs.
type Counted struct {
	Source  int32
	Queries int64
	Levels  messages.Levels
}

const levels = configuration.MaxLayers + 1

// countedSchema has an int64 column for the source, the queries, the edges, and for the edges
// between and within each level.
var countedSchema = func() *arrow.Schema {
	var fields []arrow.Field
	for _, name := range []string{"source", "queries", "edges"} {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64})
	}
	for _, name := range []string{"between", "within"} {
		for level := range levels {
			fields = append(fields, arrow.Field{Name: fmt.Sprintf("%s_%d", name, level), Type: arrow.PrimitiveTypes.Int64})
		}
	}
	return arrow.NewSchema(fields, nil)
}()

// encodeCounted turns counts into an element, an Arrow IPC stream.
func encodeCounted(rows []Counted) ([]byte, error) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, countedSchema)
	defer b.Release()
	column := func(i int) *array.Int64Builder { return b.Field(i).(*array.Int64Builder) }
	for _, r := range rows {
		column(0).Append(int64(r.Source))
		column(1).Append(r.Queries)
		column(2).Append(r.Levels.Edges)
		for level := range levels {
			column(3 + level).Append(r.Levels.Between[level])
			column(3 + levels + level).Append(r.Levels.Within[level])
		}
	}
	record := b.NewRecord()
	defer record.Release()
	return tables.EncodeBatch(record)
}

// countedOf reads what encodeCounted wrote.
func countedOf(record arrow.Record) []Counted {
	columns := make([][]int64, record.NumCols())
	for i := range columns {
		columns[i] = record.Column(i).(*array.Int64).Int64Values()
	}
	rows := make([]Counted, record.NumRows())
	for i := range rows {
		r := &rows[i]
		r.Source, r.Queries, r.Levels.Edges = int32(columns[0][i]), columns[1][i], columns[2][i]
		for level := range levels {
			r.Levels.Between[level] = columns[3+level][i]
			r.Levels.Within[level] = columns[3+levels+level][i]
		}
	}
	return rows
}

// decode reads an element of either kind.
func decode(element []byte) ([]Counted, []chosen, error) {
	record, err := tables.DecodeBatch(element)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("decoding counts: %w", err)
	case record.Schema().Equal(countedSchema):
		return countedOf(record), nil, nil
	case record.Schema().Equal(chosenSchema):
		return nil, chosenOf(record), nil
	}
	return nil, nil, fmt.Errorf("decoding counts: %s", record.Schema())
}
