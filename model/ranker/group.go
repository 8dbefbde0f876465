package ranker

import (
	"cmp"
	"slices"
)

// Row is one row of a split's query table, by id.
type Row struct {
	// Number is the position of the row in the table.
	Number                   int64
	Source, Relation, Answer int32
}

// Group returns the distinct queries of some rows, ordered by source and relation. known returns the
// ascending known answers of a query; its slices are shared. Group reorders rows.
func Group(rows []Row, known func(source, relation int32) []int32) []Query {
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Number, b.Number))
	})
	// Two arrays that all queries share: most have one row.
	numbers, answers := make([]int64, len(rows)), make([]int32, len(rows))
	for i, r := range rows {
		numbers[i], answers[i] = r.Number, r.Answer
	}
	var queries []Query
	for from := 0; from < len(rows); {
		first, to := rows[from], from+1
		for to < len(rows) && rows[to].Source == first.Source && rows[to].Relation == first.Relation {
			to++
		}
		queries = append(queries, Query{
			Source: first.Source, Relation: first.Relation,
			Rows: numbers[from:to:to], Answers: answers[from:to:to], Known: known(first.Source, first.Relation),
		})
		from = to
	}
	return slices.Clip(queries)
}
