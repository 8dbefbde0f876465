package propagation

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

// TestEquivalentStatesAreCopied compares states that are computed once for equivalent rows with those
// computed row by row, bit by bit, in a graph of hubs and leaves with equal messages.
func TestEquivalentStatesAreCopied(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 1))
	var facts []graph.Fact
	const hubs, entities = 20, 400
	for leaf := int32(hubs); leaf < entities; leaf++ {
		for range 1 + rng.IntN(2) {
			facts = append(facts, graph.Fact{Head: leaf, Relation: int32(rng.IntN(2)), Tail: int32(rng.IntN(hubs))})
		}
	}
	for range 40 {
		facts = append(facts, graph.Fact{Head: int32(rng.IntN(hubs)), Relation: 2, Tail: int32(rng.IntN(hubs))})
	}
	g, err := graph.New(entities, 3, facts)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int32, entities)
	for o := range all {
		all[o] = int32(o)
	}
	c := configuration.Default()
	c.Bias, c.DegreeMessages = true, true
	w := NewWeights(g, c, false)
	if err := w.Load(kernel.Available()[0], parameters.Initialize(parameters.Layout(c, g.RelationCount()), 5)); err != nil {
		t.Fatal(err)
	}
	for _, k := range kernel.Available() {
		shared, alone := New(g, c, k), New(g, c, k)
		copied := 0
		for source := range int32(60) {
			q := Query{Source: source, Relation: source % 6}
			if err := shared.Forward(w, q); err != nil {
				t.Fatal(err)
			}
			for _, ofAge := range shared.layout.Ages {
				copied += len(ofAge.Duplicates)
			}
			q.Candidates = all
			if err := alone.Forward(w, q); err != nil {
				t.Fatal(err)
			}
			if shared.Sent() != alone.Sent() || shared.Updated() != alone.Updated() {
				t.Fatalf("%s, source %d: %d messages and %d updates, want %d and %d", k.Name(), source,
					shared.Sent(), shared.Updated(), alone.Sent(), alone.Updated())
			}
			got, want := candidatesOf(shared, all), candidatesOf(alone, all)
			if !slices.Equal(got, want) {
				t.Fatalf("%s, source %d: states differ", k.Name(), source)
			}
		}
		if copied < 60*100 {
			t.Errorf("%s: %d states were copied, want at least a hundred a query", k.Name(), copied)
		}
	}
}

func candidatesOf(p *Propagator, entities []int32) []float32 {
	states, valid := make([]float32, len(entities)*p.Depth()*p.Width()), make([]int32, len(entities))
	p.Candidates(entities, states, valid)
	return states
}
