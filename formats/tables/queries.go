package tables

import (
	"context"
	"fmt"
	"sort"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Query is a query (source, relation, ?) by id, with the answer of its fact.
type Query struct {
	// Relation is the relation of the query: r+R if the query is inverse.
	Source, Relation, Answer int32
	// Inverse queries ask for the head of their fact, the others for its tail.
	Inverse bool
}

var queriesSchema = newSchema("queries", []arrow.Field{
	int32Field("source"), int32Field("relation"), int32Field("answer"),
	{Name: "reciprocal", Type: arrow.FixedWidthTypes.Boolean},
})

func queryColumns(queries []Query) []arrow.Array {
	var ids [3][]int32
	for i := range ids {
		ids[i] = make([]int32, len(queries))
	}
	inverse := array.NewBooleanBuilder(memory.DefaultAllocator)
	defer inverse.Release()
	inverse.Reserve(len(queries))
	for i, q := range queries {
		ids[0][i], ids[1][i], ids[2][i] = q.Source, q.Relation, q.Answer
		inverse.UnsafeAppend(q.Inverse)
	}
	return []arrow.Array{int32s(ids[0]), int32s(ids[1]), int32s(ids[2]), inverse.NewArray()}
}

func appendQueries(queries []Query, rows arrow.Record) []Query {
	sources, relations, answers := int32Values(rows, 0), int32Values(rows, 1), int32Values(rows, 2)
	inverse := rows.Column(3).(*array.Boolean)
	for i := range sources {
		queries = append(queries, Query{sources[i], relations[i], answers[i], inverse.Value(i)})
	}
	return queries
}

func (q Query) check() error {
	if q.Source < 0 || q.Relation < 0 || q.Answer < 0 {
		return fmt.Errorf("query (%d, %d, %d) has a negative id", q.Source, q.Relation, q.Answer)
	}
	return nil
}

// QueriesWriter writes the queries of a split, in their order.
type QueriesWriter struct {
	*tableWriter
	queries []Query // of the pending batch
}

// CreateQueries begins a file of queries.
func CreateQueries(ctx context.Context, url string) (*QueriesWriter, error) {
	w := &QueriesWriter{}
	var err error
	w.tableWriter, err = createTable(ctx, url, queriesSchema, func() []arrow.Array {
		columns := queryColumns(w.queries)
		w.queries = w.queries[:0]
		return columns
	})
	return w, err
}

// Write appends a query.
func (w *QueriesWriter) Write(q Query) error {
	if err := q.check(); err != nil {
		return w.refuse("%v", err)
	}
	w.queries = append(w.queries, q)
	return w.count(0)
}

// WriteQueries writes a file of queries.
func WriteQueries(ctx context.Context, url string, queries []Query) error {
	w, err := CreateQueries(ctx, url)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, q := range queries {
		if err := w.Write(q); err != nil {
			return err
		}
	}
	return w.Commit()
}

// CountQueries returns the number of queries of a file. It reads the frame of the file only.
func CountQueries(ctx context.Context, url string) (int64, error) {
	return countRows(ctx, url, queriesSchema)
}

// EachQuery calls each for the queries of a file, in order. It holds one batch.
func EachQuery(ctx context.Context, url string, each func(q Query) error) error {
	var queries []Query
	row := 0
	return readTable(ctx, url, queriesSchema, nil, func(rows arrow.Record) error {
		queries = appendQueries(queries[:0], rows)
		for _, q := range queries {
			if err := q.check(); err != nil {
				return fmt.Errorf("row %d: %w", row, err)
			}
			row++
			if err := each(q); err != nil {
				return err
			}
		}
		return nil
	})
}

// ReadQueryTable reads a file of queries.
func ReadQueryTable(ctx context.Context, url string) ([]Query, error) {
	var queries []Query
	start := func(n int64) { queries = make([]Query, 0, n) }
	err := readTable(ctx, url, queriesSchema, start, func(rows arrow.Record) error {
		queries = appendQueries(queries, rows)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, q := range queries {
		if err := q.check(); err != nil {
			return nil, fmt.Errorf("reading %s: row %d: %w", url, i, err)
		}
	}
	return queries, nil
}

// QueriesOf returns the queries that share a source, a view of queries, which are sorted by source.
func QueriesOf(queries []Query, source int32) []Query {
	from := sort.Search(len(queries), func(i int) bool { return queries[i].Source >= source })
	to := from
	for to < len(queries) && queries[to].Source == source {
		to++
	}
	return queries[from:to]
}

// SourcesOf returns the distinct sources of queries, which are sorted by source, in that order.
func SourcesOf(queries []Query) []int32 {
	var sources []int32
	for i, q := range queries {
		if i == 0 || queries[i-1].Source != q.Source {
			sources = append(sources, q.Source)
		}
	}
	return sources
}
