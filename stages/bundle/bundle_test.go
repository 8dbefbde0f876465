package bundle

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/ranker"
)

// someRows has sources and relations that repeat, in no order.
func someRows(n int) []Row {
	rng := rand.New(rand.NewPCG(1, 2))
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{Number: int64(i), Source: int32(rng.IntN(40)), Relation: int32(rng.IntN(4)), Answer: int32(rng.IntN(100))}
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
			got = append(got, Row{number, q.Source, q.Relation, q.Answers[j]})
		}
	}
	slices.SortFunc(got, func(a, b Row) int { return int(a.Number - b.Number) })
	if diff := cmp.Diff(rows, got); diff != "" {
		t.Error(diff)
	}
}

func TestCut(t *testing.T) {
	t.Parallel()
	queries := Group(someRows(500), someKnown)
	all := len(queries)
	for name, c := range map[string]struct {
		queries []ranker.Query
		work    float64
		best    int
		want    int // ranges, 0 for as many as the rows demand
	}{
		"little work":            {queries, 1, 10, 1},
		"a tenth of a shard":     {queries, shardWork / 10, 10, all / 10},
		"much work":              {queries, 1e30, 0, min(all, maxShards)},
		"more ranges than there": {queries[:3], 1e30, 0, 3},
		"many candidates":        {queries, 1, MaxRows / 7, 0},
		"each with all rows":     {queries, shardWork / 10, MaxRows, all},
		"one query":              {queries[:1], 1, 10, 1},
		"none":                   {nil, 1, 10, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ranges := Cut(c.queries, c.work, c.best)
			next := 0
			for _, r := range ranges {
				if r[0] != next || r[1] <= r[0] {
					t.Fatalf("range %v after %d", r, next)
				}
				next = r[1]
				rows := 0
				for _, q := range c.queries[r[0]:r[1]] {
					rows += len(q.Rows) + c.best
				}
				if rows > MaxRows && r[1]-r[0] > 1 {
					t.Errorf("range %v has %d rows", r, rows)
				}
				if n := float64(len(c.queries)) / float64(max(1, c.want)); c.want > 0 && math.Abs(float64(r[1]-r[0])-n) > 1 {
					t.Errorf("range %v of %d queries, want %.1f", r, r[1]-r[0], n)
				}
			}
			if next != len(c.queries) {
				t.Fatalf("ranges end at %d of %d queries", next, len(c.queries))
			}
			if c.want > 0 && len(ranges) != c.want {
				t.Errorf("%d ranges, want %d", len(ranges), c.want)
			}
		})
	}
}
