package bundle

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	for _, count := range []int{1, 2, 7, 50, 1000} {
		for _, memory := range []int64{1, 2000, 1 << 40} {
			t.Run(fmt.Sprintf("%d/%d", count, memory), func(t *testing.T) {
				t.Parallel()
				ranges := Cut(queries, count, memory)
				next := 0
				for _, r := range ranges {
					if r[0] != next || r[1] <= r[0] {
						t.Fatalf("range %v after %d", r, next)
					}
					next = r[1]
					if size := sizeOf(queries[r[0]:r[1]]); size > memory && r[1]-r[0] > 1 {
						t.Errorf("range %v takes %d bytes of %d", r, size, memory)
					}
				}
				if next != len(queries) {
					t.Fatalf("ranges end at %d of %d queries", next, len(queries))
				}
				if memory < 1<<40 {
					return
				}
				if want := min(count, len(queries)); len(ranges) != want {
					t.Errorf("%d ranges, want %d", len(ranges), want)
				}
				for _, r := range ranges {
					if n, share := r[1]-r[0], float64(len(queries))/float64(count); float64(n) > share+1 {
						t.Errorf("range %v has %d queries, want %.1f", r, n, share)
					}
				}
			})
		}
	}
	if ranges := Cut(nil, 3, 100); len(ranges) != 0 {
		t.Errorf("no queries are cut into %v", ranges)
	}
}

// sizeOf is Cut's formula, written again.
func sizeOf(queries []Query) int64 {
	var size int64
	for _, q := range queries {
		size += 80 + 12*int64(len(q.Rows)) + 4*int64(len(q.Known))
	}
	return size
}

func someBundle() *Bundle {
	return &Bundle{Number: 7, Queries: []Query{
		{Source: 3, Relation: 0, Rows: []int64{5, 9}, Answers: []int32{4, 2}, Known: []int32{2, 4, 6}},
		{Source: 3, Relation: 3, Rows: []int64{0}, Answers: []int32{None}},
		{Source: 8, Relation: 1, Rows: []int64{1 << 40}, Answers: []int32{0}, Known: []int32{0}},
	}}
}

func TestEncodedBundleIsTheSame(t *testing.T) {
	t.Parallel()
	want := someBundle()
	data, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.Rows() != 4 {
		t.Errorf("%d rows, want 4", got.Rows())
	}
	for cut := range len(data) {
		if b, err := Decode(data[:cut]); err == nil && !cmp.Equal(b, want) {
			t.Fatalf("%d of %d bytes decode to another bundle", cut, len(data))
		}
	}
}

func TestSources(t *testing.T) {
	t.Parallel()
	type run struct{ Index, Source, Queries int }
	var got []run
	for i, queries := range someBundle().Sources() {
		got = append(got, run{i, int(queries[0].Source), len(queries)})
	}
	if diff := cmp.Diff([]run{{0, 3, 2}, {2, 8, 1}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	ok := func() *Bundle {
		return &Bundle{Queries: []Query{{Source: 3, Relation: 1, Rows: []int64{0}, Answers: []int32{4}, Known: []int32{2, 4}}}}
	}
	if err := ok().Check(5, 2); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Query){
		"source":   func(q *Query) { q.Source = 5 },
		"negative": func(q *Query) { q.Source = -1 },
		"relation": func(q *Query) { q.Relation = 2 },
		"answer":   func(q *Query) { q.Answers[0] = 5 },
		"lengths":  func(q *Query) { q.Answers = nil },
		"known":    func(q *Query) { q.Known = []int32{2, 5} },
		"unsorted": func(q *Query) { q.Known = []int32{4, 2} },
	} {
		b := ok()
		spoil(&b.Queries[0])
		if err := b.Check(5, 2); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
