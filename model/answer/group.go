package answer

import (
	"cmp"
	"slices"

	"tagnet/model/graph"
)

// Row is one row of a split's query table, by id.
type Row struct {
	// Number is the position of the row in the table.
	Number int64
	graph.Query
}

// distinct returns the query of a row, without its answer if nothing is removed for it.
func (r Row) distinct() graph.Query {
	q := r.Query
	if q.Removal == graph.RemoveNothing {
		q.Answer = graph.None
	}
	return q
}

// compare orders rows by their queries, then by their numbers.
func (r Row) compare(o Row) int {
	return cmp.Or(cmp.Compare(r.Source, o.Source), cmp.Compare(r.Relation, o.Relation), cmp.Compare(r.distinct().Answer, o.distinct().Answer),
		cmp.Compare(r.Number, o.Number))
}

// Group returns the distinct queries of some rows, ordered by source and relation. Queries of graphs without other
// edges are distinct. known returns the ascending known answers of a query; its slices are shared. Group reorders rows.
func Group(rows []Row, known func(source, relation int32) []int32) []Request {
	slices.SortFunc(rows, Row.compare)
	// Two arrays that all queries share: most have one row.
	numbers, answers := make([]int64, len(rows)), make([]int32, len(rows))
	for i, r := range rows {
		numbers[i], answers[i] = r.Number, r.Answer
	}
	var queries []Request
	for from := 0; from < len(rows); {
		query, to := rows[from].distinct(), from+1
		for to < len(rows) && rows[to].distinct() == query {
			to++
		}
		queries = append(queries, Request{
			Query: query, Rows: numbers[from:to:to], Answers: answers[from:to:to], Known: known(query.Source, query.Relation),
		})
		from = to
	}
	return slices.Clip(queries)
}
