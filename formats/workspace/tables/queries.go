package tables

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
)

// QueriesVersion is the version of the layout of tables of queries; Version is for all other tables.
const QueriesVersion = "2"

// queriesSchema has a row for each query (source, relation, ?), which may be inverse, by ids. A query without an answer
// has the answer -1.
var queriesSchema = versionedSchema("queries", QueriesVersion, []arrow.Field{int32Field("source"), int32Field("relation"), int32Field("answer")})

func checkQuery(source, relation, answer int32) error {
	if source < 0 || relation < 0 || answer < -1 {
		return fmt.Errorf("query (%d, %d, %d) has a negative id", source, relation, answer)
	}
	return nil
}

// RowsWriter writes rows of three ids: edges, or queries.
type RowsWriter struct {
	*tableWriter
	columns [3][]int32 // of the pending batch
	check   func(a, b, c int32) error
}

// createRows begins a file of rows that a check accepts.
func createRows(ctx context.Context, url string, schema *arrow.Schema, check func(a, b, c int32) error) (w *RowsWriter, err error) {
	w = &RowsWriter{check: check}
	w.tableWriter, err = createTable(ctx, url, schema, func() []arrow.Array {
		arrays := make([]arrow.Array, len(w.columns))
		for i, column := range w.columns {
			arrays[i], w.columns[i] = int32s(column), column[:0] // Arrow has encoded them before the next row is added
		}
		return arrays
	})
	return w, err
}

// Write appends a row, whose ids are in the order of the table's columns. It returns an error for a row
// that no such table has.
func (w *RowsWriter) Write(a, b, c int32) error {
	if err := w.check(a, b, c); err != nil {
		return w.refuse("%v", err)
	}
	for i, id := range [3]int32{a, b, c} {
		w.columns[i] = append(w.columns[i], id)
	}
	return w.count(0)
}

// CreateQueries begins a file of queries, of source, relation and answer, which is -1 for a query that has none.
func CreateQueries(ctx context.Context, url string) (*RowsWriter, error) {
	return createRows(ctx, url, queriesSchema, checkQuery)
}

// CountQueries returns the number of queries of a file. It reads the frame of the file only.
func CountQueries(ctx context.Context, url string) (int64, error) {
	return countRows(ctx, url, queriesSchema)
}

// EachQuery calls each for the queries of a file, in order. It holds one batch.
func EachQuery(ctx context.Context, url string, each func(source, relation, answer int32) error) error {
	row := 0
	return readTable(ctx, url, queriesSchema, nil, func(rows arrow.Record) error {
		sources, relations, answers := int32Values(rows, 0), int32Values(rows, 1), int32Values(rows, 2)
		for i, source := range sources {
			if err := checkQuery(source, relations[i], answers[i]); err != nil {
				return fmt.Errorf("row %d: %w", row, err)
			}
			row++
			if err := each(source, relations[i], answers[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// EachAnswered calls each like EachQuery, but a query without an answer is an error.
func EachAnswered(ctx context.Context, url string, each func(source, relation, answer int32) error) error {
	row := 0
	return EachQuery(ctx, url, func(source, relation, answer int32) error {
		if answer < 0 {
			return fmt.Errorf("row %d: query (%d, %d) has no answer", row, source, relation)
		}
		row++
		return each(source, relation, answer)
	})
}
