package kg

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/graph"
)

// TestAllFacts compares with a graph of the facts of all splits, of which some repeat.
func TestAllFacts(t *testing.T) {
	t.Parallel()
	train := []Triple{{"a", "knows", "c"}, {"b", "likes", "a"}, {"b", "likes", "b"}, {"e", "likes", "a"}, {"b", "owns", "g"}}
	valid := []Triple{{"a", "likes", "d"}, {"b", "knows", "a"}}
	test := []Triple{{"d", "likes", "b"}, {"b", "likes", "a"}, {"c", "owns", "f"}}
	whole, err := New(train, valid, test)
	if err != nil {
		t.Fatal(err)
	}
	left := func(facts []Triple) []Triple {
		return slices.DeleteFunc(slices.Clone(facts), func(f Triple) bool { return f.Relation == "owns" })
	}
	without, err := whole.Without(t.Context(), []string{"owns"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		kg     *KG
		facts  []Triple
		absent int // entities of no fact
	}{
		"whole":   {whole, slices.Concat(train, valid, test), 0},
		"without": {without, slices.Concat(left(train), left(valid), left(test)), 2},
	} {
		all, err := c.kg.AllFacts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		facts, err := factsOf(c.kg.Lookup(c.kg.Train), c.facts)
		if err != nil {
			t.Fatal(err)
		}
		want, err := graph.New(len(c.kg.Train.Entities), len(c.kg.Relations), facts)
		if err != nil {
			t.Fatal(err)
		}
		mean := want.MeanLogDegree * float64(want.Entities) / float64(want.Entities-c.absent)
		if !(math.Abs(all.Graph.MeanLogDegree-mean) <= 1e-12) {
			t.Errorf("%s: the mean degree is %g, want %g", name, all.Graph.MeanLogDegree, mean)
		}
		edges := func(g *graph.Graph) []any { return []any{g.Offsets, g.Senders, g.Relations} }
		if diff := cmp.Diff(edges(want), edges(all.Graph)); diff != "" {
			t.Errorf("%s: edges (-want +got):\n%s", name, diff)
		}
		if &all.Entities[0] != &c.kg.Train.Entities[0] {
			t.Errorf("%s: the names are copied", name)
		}
		if again, err := c.kg.AllFacts(t.Context()); err != nil || again != all {
			t.Errorf("%s: another view of all facts, error %v", name, err)
		}
		if train := c.kg.Train.Graph; train.Edges() >= all.Graph.Edges() {
			t.Errorf("%s: %d training edges of %d", name, train.Edges(), all.Graph.Edges())
		}
	}
}
