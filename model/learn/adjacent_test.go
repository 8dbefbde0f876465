package learn

import (
	"testing"

	"tagnet/model/graph"
)

func TestAdjacent(t *testing.T) {
	t.Parallel()
	g, err := graph.New(4, 2, []graph.Fact{{Head: 0, Relation: 0, Tail: 1}, {Head: 0, Relation: 1, Tail: 1}, {Head: 2, Relation: 0, Tail: 1}})
	if err != nil {
		t.Fatal(err)
	}
	queries := []graph.Query{{Source: 0, Relation: 1, Answer: 1}, {Source: 1, Relation: 3, Answer: 2}, {Source: 0, Relation: 0, Answer: 2},
		{Source: 0, Relation: 0, Answer: 3}}
	if got := Adjacent(g, queries); got != .5 {
		t.Errorf("%g, want .5", got)
	}
	if got := Adjacent(g, nil); got != 0 {
		t.Errorf("without queries %g, want 0", got)
	}
}
