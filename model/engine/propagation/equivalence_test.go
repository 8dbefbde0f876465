package propagation

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// TestEquivalentStatesAreCopied compares states that are computed once for equivalent rows with those
// computed row by row, bit by bit, in a graph of hubs and leaves with equal messages.
func TestEquivalentStatesAreCopied(t *testing.T) {
	t.Parallel()
	g := hubsAndLeaves(t)
	const entities = 400
	all := make([]int32, entities)
	for o := range all {
		all[o] = int32(o)
	}
	c := configuration.Default()
	c.Bias, c.DegreeMessages = true, true
	w := loaded(t, g, c, false, kernel.Available()[0])
	for _, k := range kernel.Available() {
		shared, alone := New(g, c, k), New(g, c, k)
		copied := 0
		for source := range int32(60) {
			q := Request{Query: graph.Query{Source: source, Relation: source % 6}}
			if err := shared.Forward(t.Context(), w, q); err != nil {
				t.Fatal(err)
			}
			for _, ofAge := range shared.layout.Ages {
				copied += len(ofAge.Duplicates)
			}
			q.Candidates = all
			if err := alone.Forward(t.Context(), w, q); err != nil {
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

// hubsAndLeaves returns a graph of 400 entities, of which 20 are hubs.
func hubsAndLeaves(t *testing.T) *graph.Graph {
	t.Helper()
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
	return g
}

// TestSharedStatesHaveTheSameGradients compares training that computes equivalent states once with
// training that computes each.
func TestSharedStatesHaveTheSameGradients(t *testing.T) {
	t.Parallel()
	g := hubsAndLeaves(t)
	for _, degree := range []bool{false, true} { // without, other entities have no rows
		c := configuration.Default()
		c.Delta, c.Dependent, c.DegreeMessages = 3, false, degree
		for _, k := range kernel.Available() {
			w := loaded(t, g, c, true, k)
			shared, alone := New(g, c, k), New(g, c, k)
			candidates, copied := []int32{30, 31, 50, 51, 52, 300, 399}, 0
			for source := range int32(60) {
				q := Request{Query: graph.Query{Source: source, Relation: source % 6}, Training: true, Candidates: candidates}
				want := gradientsOf(t, alone, w, q)
				q.ShareStates = true
				got := gradientsOf(t, shared, w, q)
				for _, ofAge := range shared.layout.Ages {
					copied += len(ofAge.Duplicates)
				}
				if shared.Sent() != alone.Sent() || shared.Updated() != alone.Updated() {
					t.Fatalf("%s, source %d: %d messages and %d updates, want %d and %d", k.Name(), source,
						shared.Sent(), shared.Updated(), alone.Sent(), alone.Updated())
				}
				near(t, "states", candidatesOf(shared, candidates), candidatesOf(alone, candidates))
				near(t, "query", got.Query, want.Query)
				for l := range got.layers {
					near(t, "relations", got.Tables[l], want.Tables[l])
					for i := range got.layers[l].maps {
						near(t, "maps", got.layers[l].maps[i], want.layers[l].maps[i])
					}
				}
			}
			if copied < 60*50 {
				t.Errorf("%s: %d states were copied, want at least 50 a query", k.Name(), copied)
			}
		}
	}
}

// gradientsOf returns the gradients of a query whose candidates' states have themselves as gradients.
func gradientsOf(t *testing.T, p *Propagator, w *Weights, q Request) *Gradients {
	t.Helper()
	if err := p.Forward(t.Context(), w, q); err != nil {
		t.Fatal(err)
	}
	gradients := NewGradients(p.configuration, p.graph.RelationCount())
	if err := p.Backward(q.Candidates, candidatesOf(p, q.Candidates), gradients); err != nil {
		t.Fatal(err)
	}
	return gradients
}

// TestSharingNeedsAWindowWithoutDropout expects an error elsewhere.
func TestSharingNeedsAWindowWithoutDropout(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*configuration.Configuration){
		func(c *configuration.Configuration) { c.Dropout = .5 },
		func(c *configuration.Configuration) { c.Policy = configuration.PolicyFull },
	} {
		c := configuration.Default()
		change(&c)
		s := newSteady(t, c, 30, 60, true)
		q := s.queries[0]
		q.ShareStates = true
		if err := s.propagator.Forward(t.Context(), s.weights, q); err == nil {
			t.Errorf("policy %s, dropout %g: no error", c.Policy, c.Dropout)
		}
	}
}

func candidatesOf(p *Propagator, entities []int32) []float32 {
	states, valid := make([]float32, len(entities)*p.Depth()*p.Width()), make([]int32, len(entities))
	p.Candidates(entities, states, valid)
	return states
}

// loaded returns weights of random parameters.
func loaded(t testing.TB, g *graph.Graph, c configuration.Configuration, training bool, k kernel.Kernel) *Weights {
	t.Helper()
	w := NewWeights(g, nil, c, training)
	if err := w.Load(k, parameters.Initialize(parameters.Layout(c, g.RelationCount()), 5)); err != nil {
		t.Fatal(err)
	}
	return w
}
