package answer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/calibration"
	"tagnet/model/graph"
)

func TestSample(t *testing.T) {
	t.Parallel()
	hub := Ranked{Query: graph.Query{Source: 1, Relation: 3}, Row: 40, Results: []Result{{Row: 40, Answer: 7}, {Row: 41, Answer: 95}}}
	for i := range int32(100) {
		hub.Best = append(hub.Best, Candidate{Entity: i, Score: float32(-i), Known: i < 5 || i == 7 || i == 8})
	}
	few := Ranked{Query: graph.Query{Relation: 1}, Row: 6, Results: []Result{{Row: 6, Answer: 9}}, Best: []Candidate{{Entity: 2, Score: 1.5, Known: true}, {Entity: 3, Score: 1}}}
	got := (&Scored{Queries: []Ranked{hub, few}}).Sample()
	var want []calibration.Candidate
	for _, i := range []int{5, 6, 7, 9, 10, 11, 12, 13, 14, 15} {
		want = append(want, calibration.Candidate{Query: 40, Relation: 3, Score: float32(-i), True: i == 7})
	}
	want = append(want, calibration.Candidate{Query: 6, Relation: 1, Score: 1})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
