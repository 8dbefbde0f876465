package graph

import (
	"slices"
	"testing"
)

// TestSameGraph compares two queries of each kind, and what each may differ in.
func TestSameGraph(t *testing.T) {
	t.Parallel()
	fact := Query{Source: 1, Relation: 2, Answer: 3, Removal: RemoveFact}
	with := func(change func(*Query)) Query {
		q := fact
		change(&q)
		return q
	}
	otherRelation := func(q *Query) { q.Relation = 4 }
	whole, oneHop := with(func(q *Query) { q.Removal = RemoveNothing }), with(func(q *Query) { q.Removal = RemoveOneHop })
	for name, c := range map[string]struct {
		a, b Query
		want bool
	}{
		"equal":                  {fact, fact, true},
		"whole graphs":           {whole, Query{Source: 5, Relation: 6, Answer: None}, true},
		"one of a whole graph":   {fact, whole, false},
		"another source":         {fact, with(func(q *Query) { q.Source = 4 }), false},
		"another answer":         {fact, with(func(q *Query) { q.Answer = 4 }), false},
		"another relation":       {fact, with(otherRelation), false},
		"any edge between":       {fact, oneHop, false},
		"of another relation":    {oneHop, with(func(q *Query) { *q = oneHop; otherRelation(q) }), true},
		"any edge to another":    {oneHop, with(func(q *Query) { *q = oneHop; q.Answer = 4 }), false},
		"any edge from another":  {oneHop, with(func(q *Query) { *q = oneHop; q.Source = 4 }), false},
		"other answers":          {with(func(q *Query) { q.Others = &Others{5, 7} }), with(func(q *Query) { q.Others = &Others{5, 7} }), true},
		"one answer fewer":       {with(func(q *Query) { q.Others = &Others{5, 7} }), with(func(q *Query) { q.Others = &Others{5} }), false},
		"nothing of the reverse": {fact, Query{Source: 3, Relation: 2, Answer: 1, Removal: RemoveFact}, false},
	} {
		if got := c.a.SameGraph(c.b); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestAnswers compares the answers that a graph's edges give with those of its facts, of which one is a
// loop and one repeats.
func TestAnswers(t *testing.T) {
	t.Parallel()
	facts := []Fact{{0, 0, 2}, {0, 0, 1}, {0, 1, 1}, {1, 0, 0}, {2, 1, 2}, {2, 1, 0}, {0, 0, 2}}
	g, err := New(4, 2, facts)
	if err != nil {
		t.Fatal(err)
	}
	for source := range int32(4) {
		for relation := range int32(4) {
			var want []int32
			for answer := range int32(4) {
				if slices.Contains(facts, (Query{Source: source, Relation: relation}).Fact(answer, 2)) {
					want = append(want, answer)
				}
			}
			if got := g.Answers(source, relation); !slices.Equal(got, want) {
				t.Errorf("answers of (%d, %d): %v, want %v", source, relation, got, want)
			}
		}
	}
}

// TestQueriesOfAFact holds that the second query is the inverse of the first.
func TestQueriesOfAFact(t *testing.T) {
	t.Parallel()
	tail, head := Fact{Head: 4, Relation: 1, Tail: 7}.Queries(3)
	if want := (Query{Source: 4, Relation: 1, Answer: 7}); tail != want {
		t.Errorf("the query for the tail is %+v, want %+v", tail, want)
	}
	if want := (Query{Source: 7, Relation: 4, Answer: 4}); head != want {
		t.Errorf("the query for the head is %+v, want %+v", head, want)
	}
}
