package answer

import (
	"cmp"
	"slices"

	"tagnet/model/graph"
)

// Row is one row of a split's query table, by id.
type Row struct {
	// Number is the position of the row in the table.
	Number                   int64
	Source, Relation, Answer int32
	// Removal leaves the graph of the row's query.
	Removal graph.Removal
}

// compare orders rows by their queries, then by their numbers.
func (r Row) compare(o Row) int {
	active := func(r Row) int32 {
		if r.Removal.Active {
			return r.Removal.Answer
		}
		return None
	}
	return cmp.Or(cmp.Compare(r.Source, o.Source), cmp.Compare(r.Relation, o.Relation), cmp.Compare(active(r), active(o)), cmp.Compare(r.Number, o.Number))
}

// Group returns the distinct queries of some rows, ordered by source and relation. Queries of graphs without other edges are distinct. known returns the
// ascending known answers of a query; its slices are shared. Group reorders rows.
func Group(rows []Row, known func(source, relation int32) []int32) []Query {
	slices.SortFunc(rows, Row.compare)
	// Two arrays that all queries share: most have one row.
	numbers, answers := make([]int64, len(rows)), make([]int32, len(rows))
	for i, r := range rows {
		numbers[i], answers[i] = r.Number, r.Answer
	}
	var queries []Query
	for from := 0; from < len(rows); {
		first, to := rows[from], from+1
		for to < len(rows) && rows[to].Source == first.Source && rows[to].Relation == first.Relation && rows[to].Removal == first.Removal {
			to++
		}
		queries = append(queries, Query{
			Source: first.Source, Relation: first.Relation,
			Rows: numbers[from:to:to], Answers: answers[from:to:to], Known: known(first.Source, first.Relation), Removal: first.Removal,
		})
		from = to
	}
	return slices.Clip(queries)
}
