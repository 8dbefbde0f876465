package kg

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/graph"
)

// TestHeldOut has a validation fact that is also a test fact, a validation fact that is also an edge, and a test fact
// that is also an edge, with a, b, c, d as 0 to 3, and knows, likes and their inverses as 0 to 3.
func TestHeldOut(t *testing.T) {
	t.Parallel()
	k, err := New(train,
		[]Triple{{"a", "likes", "d"}, {"b", "likes", "c"}, {"b", "likes", "d"}},
		[]Triple{{"b", "likes", "d"}, {"a", "knows", "c"}})
	if err != nil {
		t.Fatal(err)
	}
	want := []graph.Query{
		{Source: 0, Relation: 0, Answer: 2}, {Source: 0, Relation: 1, Answer: 3}, {Source: 1, Relation: 1, Answer: 3},
		{Source: 2, Relation: 2, Answer: 0},
		{Source: 3, Relation: 3, Answer: 0}, {Source: 3, Relation: 3, Answer: 1},
	}
	got, err := k.HeldOut(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("held-out queries (-want +got):\n%s", diff)
	}
}
