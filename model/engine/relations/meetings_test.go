package relations_test

import (
	"math/rand/v2"
	"testing"

	"tagnet/model/engine/relations"
	compare "tagnet/model/internal/spec/golden"

	"github.com/google/go-cmp/cmp"
)

// TestMeetingsDoNotDependOnTheOrder adds the relations of entities in random order.
func TestMeetingsDoNotDependOnTheOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	for range 10 {
		count := 1 + rng.IntN(80) // more than a word
		g := compare.RandomGraph(t, rng, 30, count, 60)
		want, got := relations.MeetingsOf(g), relations.NewMeetings(count)
		for _, u := range rng.Perm(g.Entities) {
			var leaving []int32
			_, entering := g.In(int32(u))
			for _, r := range entering {
				leaving = append(leaving, g.Inverse(r))
			}
			if err := got.Add(leaving); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(relations.Meetings{})); diff != "" {
			t.Errorf("meetings differ from the graph's (-want +got):\n%s", diff)
		}
	}
	if err := relations.NewMeetings(2).Add([]int32{1, 4}); err == nil {
		t.Error("relation 4 of 4 is added")
	}
}

func TestCountEdges(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 1))
	for _, count := range []int{1, 3, 32, 33, 100} {
		for _, facts := range []int{0, 5, 400} {
			g := compare.RandomGraph(t, rng, 30, count, facts)
			want := relations.GraphOf(g).Edges()
			for _, bytes := range []int64{0, 100, 1 << 20} { // a row at a time, a few, all
				if got := relations.CountEdges(g, bytes); got != want {
					t.Errorf("%d relations, %d facts, %d bytes: %d edges, want %d", count, facts, bytes, got, want)
				}
			}
		}
	}
}
