package answer

import (
	"testing"

	"tagnet/model/graph"
)

func severalQueries() []Request {
	return []Request{
		{Query: graph.Query{Source: 3, Relation: 0, Answer: graph.None}, Rows: []int64{5, 9}, Answers: []int32{4, 2}, Known: []int32{2, 4, 6}},
		{Query: graph.Query{Source: 3, Relation: 3, Answer: graph.None}, Rows: []int64{0}, Answers: []int32{graph.None}},
		{Query: graph.Query{Source: 8, Relation: 1, Answer: graph.None}, Rows: []int64{1 << 40}, Answers: []int32{0}, Known: []int32{0}},
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	if n := Rows(severalQueries()); n != 4 {
		t.Errorf("%d rows, want 4", n)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	ok := func() []Request {
		return []Request{{Query: graph.Query{Source: 3, Relation: 1, Answer: graph.None}, Rows: []int64{0}, Answers: []int32{4}, Known: []int32{2, 4}}}
	}
	if err := check(ok(), 5, 2); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Request){
		"source":   func(q *Request) { q.Source = 5 },
		"negative": func(q *Request) { q.Source = -1 },
		"relation": func(q *Request) { q.Relation = 2 },
		"answer":   func(q *Request) { q.Answers[0] = 5 },
		"lengths":  func(q *Request) { q.Answers = nil },
		"known":    func(q *Request) { q.Known = []int32{2, 5} },
		"removal":  func(q *Request) { q.Answer, q.Removal = 5, graph.RemoveFact },
		"unsorted": func(q *Request) { q.Known = []int32{4, 2} },
	} {
		queries := ok()
		spoil(&queries[0])
		if err := check(queries, 5, 2); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
