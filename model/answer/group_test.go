package answer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/graph"
)

// someRows has sources and relations that repeat, in no order.
func someRows(n int) []Row {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{Number: int64(i), Query: graph.Query{Source: int32(rng.IntN(40)), Relation: int32(rng.IntN(4)), Answer: int32(rng.IntN(100))}}
	}
	return rows
}

func someKnown(source, relation int32) []int32 {
	return make([]int32, (source*7+relation)%20)
}

func TestGroupKeepsEveryRowOnce(t *testing.T) {
	t.Parallel()
	rows := someRows(500)
	queries := Group(slices.Clone(rows), someKnown)
	var got []Row
	for i, q := range queries {
		if i > 0 && !(queries[i-1].Source < q.Source || queries[i-1].Source == q.Source && queries[i-1].Relation < q.Relation) {
			t.Errorf("query %d is out of order or repeated", i)
		}
		if len(q.Known) != len(someKnown(q.Source, q.Relation)) {
			t.Errorf("query %d has %d known answers", i, len(q.Known))
		}
		for j, number := range q.Rows {
			if j > 0 && q.Rows[j-1] >= number {
				t.Errorf("query %d has row %d after row %d", i, number, q.Rows[j-1])
			}
			got = append(got, Row{number, graph.Query{Source: q.Source, Relation: q.Relation, Answer: q.Answers[j], Removal: q.Removal}})
		}
	}
	slices.SortFunc(got, func(a, b Row) int { return int(a.Number - b.Number) })
	if diff := cmp.Diff(rows, got); diff != "" {
		t.Error(diff)
	}
}

// TestGroupKeepsGraphsApart has rows of one query in graphs without different edges, one of them twice.
func TestGroupKeepsGraphsApart(t *testing.T) {
	t.Parallel()
	row := func(number int64, answer int32, remove graph.Removals) Row {
		return Row{number, graph.Query{Source: 1, Relation: 2, Answer: answer, Removal: remove}}
	}
	rows := []Row{row(0, 0, graph.RemoveFact), row(1, 9, 0), row(2, 7, graph.RemoveFact), row(3, 8, 0), row(4, 0, graph.RemoveFact)}
	var got [][]int64
	for _, q := range Group(rows, someKnown) {
		got = append(got, q.Rows)
		if q.Removal != graph.RemoveNothing && q.Answer != q.Answers[0] {
			t.Errorf("rows %v are in the graph of %+v", q.Rows, q.Query)
		}
	}
	if diff := cmp.Diff([][]int64{{1, 3}, {0, 4}, {2}}, got); diff != "" {
		t.Error(diff)
	}
}
