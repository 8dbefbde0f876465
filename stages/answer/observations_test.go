package answer

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/answer/probability"
	"tagnet/model/graph"
)

// TestElements checks that observations are the same after they were sent, and that an element of another length is an error.
func TestElements(t *testing.T) {
	t.Parallel()
	one := probability.Observation{Fact: graph.Fact{Head: 1, Relation: 2, Tail: 1 << 30}, Tails: probability.Side{Score: -2.5, Rank: 1 << 40}, Hops: -1}
	two := probability.Observation{Heads: probability.Side{Score: 3, Rank: 1}, Hops: 2}
	shards := []observations{
		{labeled: []probability.Labeled{{Observation: one, HeldOut: true}, {Observation: two}}, unlabeled: []probability.Observation{two}},
		{},
		{labeled: []probability.Labeled{{Observation: two}}},
		{unlabeled: []probability.Observation{one}},
	}
	var got, want observations
	for _, o := range shards {
		want.labeled, want.unlabeled = append(want.labeled, o.labeled...), append(want.unlabeled, o.unlabeled...)
		element, err := o.encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := got.add(element); err != nil {
			t.Fatal(err)
		}
		for _, other := range [][]byte{element[:len(element)-1], append(element, 0), element[:min(3, len(element))]} {
			if err := new(observations).add(other); err == nil {
				t.Errorf("an element of %d bytes: no error", len(other))
			}
		}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(observations{})); diff != "" {
		t.Error(diff)
	}
}
