package evaluation

import (
	"slices"
	"testing"

	"tagnet/model/answer/ranking"
	"tagnet/model/graph"
)

// family has relations 0, parent_of, and 1, child_of: mostly the inverse of it. Relation 2 is likes.
func family(t *testing.T) *graph.Graph {
	t.Helper()
	g, err := graph.New(6, 3, []graph.Fact{
		{Head: 0, Relation: 0, Tail: 1}, {Head: 1, Relation: 1, Tail: 0},
		{Head: 0, Relation: 0, Tail: 2}, {Head: 2, Relation: 1, Tail: 0},
		{Head: 3, Relation: 0, Tail: 4},
		{Head: 1, Relation: 2, Tail: 2}, {Head: 3, Relation: 2, Tail: 2}, {Head: 3, Relation: 2, Tail: 3},
		{Head: 3, Relation: 2, Tail: 4},
	})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestPopularity(t *testing.T) {
	t.Parallel()
	g := family(t)
	p := NewPopularity(g)
	scores := make([]float32, g.Entities)
	for relation, want := range map[int32][]float32{
		2: {0, 0, 2, 1, 1, 0}, // likes
		3: {2, 0, 0, 1, 0, 0}, // ~parent_of
	} {
		p.Scores(relation, scores)
		if !slices.Equal(scores, want) {
			t.Errorf("relation %d: scores %v, want %v", relation, scores, want)
		}
	}
	p.Scores(2, scores)
	if got, want := ranking.Filtered(scores, 4, nil), (ranking.Rank{Pessimistic: 3, Optimistic: 2, Candidates: 6}); got != want {
		t.Errorf("rank %+v, want %+v", got, want)
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	g := family(t)
	r := NewRules(g)
	// Of 3 parents 2 are their children's children's; of 4 likes one is of a child.
	for _, c := range []struct {
		premise, conclusion int32
		want                float32
	}{{3, 1, 2. / (3 + doubt)}, {1, 3, 2. / (2 + doubt)}, {0, 4, 2. / (3 + doubt)}, {2, 0, 1. / (4 + doubt)}, {0, 1, 0}} {
		if got := r.Confidence(c.premise, c.conclusion); got != c.want {
			t.Errorf("%d follows from %d: %g, want %g", c.conclusion, c.premise, got, c.want)
		}
	}
	scores := make([]float32, g.Entities)
	r.Scores(4, 1, scores) // whose child is 4?
	if want := []float32{0, 0, 0, 2. / (3 + doubt), 0, 0}; !slices.Equal(scores, want) {
		t.Errorf("scores %v, want %v", scores, want)
	}
	// A fact says nothing of itself: 0 is linked to 1 by parent_of and by ~child_of.
	r.Scores(0, 0, scores)
	if want := []float32{0, 2. / (2 + doubt), 2. / (2 + doubt), 0, 0, 0}; !slices.Equal(scores, want) {
		t.Errorf("scores %v, want %v", scores, want)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	g := family(t)
	for f, want := range map[graph.Fact]string{
		{Head: 0, Relation: 0, Tail: 5}: "head",
		{Head: 5, Relation: 0, Tail: 1}: "tail",
		{Head: 0, Relation: 0, Tail: 4}: "both",
		{Head: 5, Relation: 0, Tail: 0}: "neither",
		{Head: 3, Relation: 0, Tail: 4}: "neither", // only by itself
		{Head: 1, Relation: 2, Tail: 2}: "tail",
		{Head: 3, Relation: 2, Tail: 3}: "head", // a loop
	} {
		if got := linksOf(g, f); got != want {
			t.Errorf("%v: %s, want %s", f, got, want)
		}
	}
}
