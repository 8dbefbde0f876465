package pretrained_test

import (
	order "cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/model/engine/relations"
	"tagnet/model/internal/spec"
	"tagnet/model/internal/spec/golden"

	"github.com/google/go-cmp/cmp"
)

// TestEdgesOfTheRelationGraph compares numbers of edges of each type, and of those from a relation to itself, with
// those of an independent implementation.
func TestEdgesOfTheRelationGraph(t *testing.T) {
	t.Parallel()
	for folder, want := range map[string][2][4]int{
		"fb15k-237":              {{27060, 27060, 27060, 27060}, {474, 474, 128, 128}},
		"wn18rr":                 {{380, 380, 380, 380}, {22, 22, 22, 22}},
		"inductive/fb237_v1_ind": {{2842, 2842, 2842, 2842}, {284, 284, 30, 30}},
		"umls":                   {{3440, 3440, 3440, 3440}, {92, 92, 52, 52}},
	} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			// The relations of the training graph that an inference graph lacks have no edges.
			g := read(t, folder).graph
			var got [2][4]int
			for _, e := range summed(relations.GraphOf(g)) {
				got[0][e.kind]++
				if e.receiver == e.sender {
					got[1][e.kind]++
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("edges and loops of each type (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRelationGraphIsThatOfTheReference compares random graphs, with loops, relations without facts, and more relations
// than a word of bits has.
func TestRelationGraphIsThatOfTheReference(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 2))
	for range 10 {
		g := golden.RandomGraph(t, rng, 1+rng.IntN(20), 1+rng.IntN(80), rng.IntN(50))
		of := spec.RelationGraph(g)
		var want []edge
		for kind, edges := range of {
			for _, e := range edges {
				want = append(want, edge{int32(kind), e[0], e[1]})
			}
		}
		between := relations.GraphOf(g)
		if between.Edges() != int64(len(want)) || between.Relations() != g.RelationCount() {
			t.Errorf("%d edges between %d relations, want %d and %d", between.Edges(), between.Relations(), len(want), g.RelationCount())
		}
		// The order of sums: by receiver, then type, then sender.
		slices.SortStableFunc(want, func(a, b edge) int { return order.Compare(a.receiver, b.receiver) })
		if diff := cmp.Diff(want, summed(between), cmp.AllowUnexported(edge{})); diff != "" {
			t.Fatalf("edges as the kernels sum them (-want +got):\n%s", diff)
		}
	}
}

// edge is an edge of a relation graph of a type.
type edge struct{ kind, receiver, sender int32 }

// summed returns the edges in the order in which the kernels sum them.
func summed(g *relations.Graph) (edges []edge) {
	s := g.Senders()
	for a := range int32(g.Relations()) {
		begin, end := s.Range(a, 3)
		for i := begin; i < end; i++ {
			edges = append(edges, edge{s.Relations[i], a, s.Rows[i]})
		}
	}
	return edges
}
