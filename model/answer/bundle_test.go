package answer

import (
	"testing"

	"tagnet/model/graph"
)

func severalQueries() *Bundle {
	return &Bundle{Number: 7, Queries: []Query{
		{Source: 3, Relation: 0, Rows: []int64{5, 9}, Answers: []int32{4, 2}, Known: []int32{2, 4, 6}},
		{Source: 3, Relation: 3, Rows: []int64{0}, Answers: []int32{None}},
		{Source: 8, Relation: 1, Rows: []int64{1 << 40}, Answers: []int32{0}, Known: []int32{0}},
	}}
}

func TestRows(t *testing.T) {
	t.Parallel()
	if n := severalQueries().Rows(); n != 4 {
		t.Errorf("%d rows, want 4", n)
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
		"source":                    func(q *Query) { q.Source = 5 },
		"negative":                  func(q *Query) { q.Source = -1 },
		"relation":                  func(q *Query) { q.Relation = 2 },
		"answer":                    func(q *Query) { q.Answers[0] = 5 },
		"lengths":                   func(q *Query) { q.Answers = nil },
		"known":                     func(q *Query) { q.Known = []int32{2, 5} },
		"removal of another source": func(q *Query) { q.Removal = graph.Removal{Active: true, Source: 2, Answer: 4} },
		"removal":                   func(q *Query) { q.Removal = graph.Removal{Active: true, Source: 3, Answer: 5} },
		"unsorted":                  func(q *Query) { q.Known = []int32{4, 2} },
	} {
		b := ok()
		spoil(&b.Queries[0])
		if err := b.Check(5, 2); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
