package workload

import (
	"math"
	"math/rand/v2"
	"testing"

	"tagnet/model/answer"
)

// TestCutByPaths cuts queries whose answers are explained into ranges of a bounded number of paths.
func TestCutByPaths(t *testing.T) {
	t.Parallel()
	p := Params{Best: 100, Paths: 10}
	for name, queries := range map[string]Queries{
		"of a table": listed{queries: someQueries()}, "of lists": &asked{entities: 155, relations: []int32{0}},
	} {
		ranges, next := queries.Cut(p), 0
		for _, r := range ranges {
			if paths := (r[1] - r[0]) * p.Best * p.Paths; r[0] != next || paths > MaxPaths {
				t.Errorf("%s: range %v after %d has %d paths, want at most %d", name, r, next, paths, MaxPaths)
			}
			next = r[1]
		}
		if most := 2 + queries.Len()*p.Best*p.Paths/MaxPaths; next != queries.Len() || len(ranges) > most {
			t.Errorf("%s: %d ranges, the last to %d, want at most %d", name, len(ranges), next, most)
		}
	}
}

// someQueries returns 155 queries with one to six rows each.
func someQueries() []answer.Request {
	rng := rand.New(rand.NewPCG(1, 2))
	queries := make([]answer.Request, 155)
	for i := range queries {
		queries[i].Rows = make([]int64, 1+rng.IntN(6))
	}
	return queries
}

func TestCut(t *testing.T) {
	t.Parallel()
	queries := someQueries()
	all := len(queries)
	for name, c := range map[string]struct {
		queries []answer.Request
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
			ranges := cut(len(c.queries), func(i int) int { return len(c.queries[i].Rows) }, c.work, c.best)
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
