package relations

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// TestKeptStatesChangeNothing has concurrent queries of a source that keeps the states of two base relations, and of
// one that keeps all.
func TestKeptStatesChangeNothing(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	facts := make([]graph.Fact, 60)
	for i := range facts {
		facts[i] = graph.Fact{Head: rng.Int32N(20), Relation: rng.Int32N(7), Tail: rng.Int32N(20)}
	}
	g, err := graph.New(20, 7, facts)
	if err != nil {
		t.Fatal(err)
	}
	c := configuration.Default()
	c.Relations, c.RelationLayers, c.Layers, c.Dim = configuration.RelationsGraph, 2, 2, 16
	p := parameters.NewSet[float32](parameters.Layout(c, g.RelationCount()))
	for _, tensor := range p.Tensors {
		for i := range tensor.Data {
			tensor.Data[i] = float32(rng.NormFloat64())
		}
	}
	all, two := newPropagated(g, GraphOf(g), c), newPropagated(g, GraphOf(g), c)
	two.kept = 2
	for _, s := range []*propagated{all, two} {
		s.Load(kernel.Available()[0], p)
	}
	if all.Group(0) != all.Group(13) || two.Group(0) == two.Group(2) || two.Group(2) != two.Group(10) {
		t.Fatalf("groups of relations 0, 2, 10 are %d, %d, %d, want the last two equal", two.Group(0), two.Group(2), two.Group(10))
	}
	var done sync.WaitGroup
	for thread := range 4 {
		done.Go(func() {
			for i := range 50 {
				relation := int32((i*(thread+1) + thread) % 14)
				want, got := all.Tables(relation, &Buffers{}), two.Tables(relation, &Buffers{})
				if !slices.Equal(all.Query(relation), two.Query(relation)) || !slices.Equal(want[1], got[1]) {
					t.Errorf("relation %d has other states where two base relations are kept", relation)
				}
			}
		})
	}
	done.Wait()
	if len(two.shared) != 2 || len(all.shared) != 7 {
		t.Errorf("states of %d and %d base relations are kept, want 2 and 7", len(two.shared), len(all.shared))
	}
}
