package answer

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/graph"
)

// TestNegatives checks the negatives of one answer, which other machines and versions must draw too, and that they
// depend on the seed and the query.
func TestNegatives(t *testing.T) {
	t.Parallel()
	q := Request{Query: graph.Query{Source: 3, Relation: 1, Answer: graph.None}, Known: []int32{0, 5, 9}, Sample: Sample{12, 7}}
	want := []int32{7, 8, 11, 10, 10, 10, 8, 4, 1, 8, 7, 2}
	if diff := cmp.Diff(want, q.Negatives(5, 12)); diff != "" {
		t.Errorf("negatives (-want +got):\n%s", diff)
	}
	others := map[string]Request{"source": q, "relation": q, "seed": q}
	for name, other := range others {
		switch name {
		case "source":
			other.Source = 9
			other.Known = []int32{0, 3, 5}
		case "relation":
			other.Relation = 2
		case "seed":
			other.Sample.Seed = 8
		}
		if slices.Equal(other.Negatives(5, 12), want) {
			t.Errorf("another %s has the same negatives", name)
		}
	}
	if got := q.Negatives(9, 12); slices.Equal(got, want) {
		t.Error("another answer has the same negatives")
	}
}

// TestNegativesAreUniform draws many and counts each entity that is neither the source nor known.
func TestNegativesAreUniform(t *testing.T) {
	t.Parallel()
	const n = 70_000
	q := Request{Query: graph.Query{Source: 3}, Known: []int32{0, 5, 9}, Sample: Sample{n, 1}}
	count := map[int32]int{}
	for _, entity := range q.Negatives(8, 12) { // 8 is no known answer, which preprocess rules out
		count[entity]++
	}
	for _, entity := range []int32{1, 2, 4, 6, 7, 10, 11} {
		if share := float64(count[entity]) / n; !(math.Abs(share-1./7) < 0.006) { // 4.5 standard deviations
			t.Errorf("entity %d has the share %.4f, want 1/7", entity, share)
		}
		delete(count, entity)
	}
	if len(count) > 0 {
		t.Errorf("the source, the answer or a known answer was drawn: %v", count)
	}
	all := Request{Query: graph.Query{Source: 3}, Known: []int32{0, 1, 2, 4}, Sample: Sample{5, 1}}
	if got := all.Negatives(4, 5); len(got) > 0 {
		t.Errorf("negatives %v of a graph where every entity is known", got)
	}
}
