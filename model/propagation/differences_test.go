package propagation

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tagnet/formats/reach"
	"tagnet/model/configuration"
	"tagnet/model/internal/golden"
	"tagnet/model/kernel"
	"tagnet/model/search"
)

// groundModel is a model that has a ground.
func groundModel(layers, dim int) configuration.Configuration {
	c := configuration.Default()
	c.Relations, c.RelationLayers, c.Dependent = configuration.RelationsGraph, 2, false
	c.Policy, c.Aggregate, c.Delta, c.Layers, c.Dim = configuration.PolicyFull, configuration.AggregateSum, 0, layers, dim
	return c
}

// TestDifferencesAreThoseOfStates compares the final states of queries with a ground with those of the whole propagation, on sparse
// and dense graphs, with models of few and many layers.
func TestDifferencesAreThoseOfStates(t *testing.T) {
	t.Parallel()
	for _, k := range kernel.Available() {
		t.Run(k.Name(), func(t *testing.T) {
			t.Parallel()
			rng, whole := rand.New(rand.NewPCG(4, 4)), map[bool]int{}
			for i, layers := range []int{1, 3, 4, 6, 6, 5} {
				c := groundModel(layers, []int{64, 24}[i%2])
				entities := 20 + rng.IntN(60)
				g := golden.RandomGraph(t, rng, entities, 3, entities*[]int{1, 8, 1}[i%3]/2)
				w := loaded(t, g, c, false, k)
				alone := New(g, c, k)
				shared, ground := alone.Clone(), NewGround(alone)
				all := make([]int32, entities)
				for o := range all {
					all[o] = int32(o)
				}
				for n := range 12 {
					q := Query{Source: rng.Int32N(int32(entities)), Relation: rng.Int32N(6)}
					if err := ground.Forward(t.Context(), w, q.Relation, 1+n%3); err != nil {
						t.Fatal(err)
					}
					if err := alone.Forward(t.Context(), w, q); err != nil {
						t.Fatal(err)
					}
					q.Ground = ground
					if err := shared.Forward(t.Context(), w, q); err != nil {
						t.Fatal(err)
					}
					whole[shared.differences.whole]++
					got, want, valid := make([]float32, entities*c.Dim), make([]float64, entities*c.Dim), make([]int32, entities)
					shared.Candidates(all, got, valid)
					states := make([]float32, len(got))
					alone.Candidates(all, states, valid)
					for j, v := range states {
						want[j] = float64(v)
					}
					what := fmt.Sprintf("graph %d, query %d", i, n)
					if err := golden.Compare(what, got, want, golden.Tolerance32); err != nil {
						t.Error(err)
					}
					if shared.Sent() > alone.Sent() || shared.Updated() > alone.Updated() {
						t.Errorf("%s: %d messages and %d updates, %d and %d without a ground", what, shared.Sent(), shared.Updated(), alone.Sent(), alone.Updated())
					}
					compareVisited(t, what, shared, got)
					compareDistances(t, what, shared, q)
				}
			}
			if whole[true] == 0 || whole[false] == 0 {
				t.Errorf("%d queries were propagated with whole states and %d with differences, want some of both", whole[true], whole[false])
			}
		})
	}
}

// compareVisited compares the states that Reached visits, and the ground states of all others, with the final ones.
func compareVisited(t *testing.T, what string, p *Propagator, want []float32) {
	t.Helper()
	d := p.configuration.Dim
	got := make([]float32, len(want))
	visit := func(entities []int32, states []float32) {
		for i, o := range entities {
			copy(got[int(o)*d:int(o+1)*d], states[i*d:(i+1)*d])
		}
	}
	p.query.Ground.Final(visit)
	p.Reached(0, func(entities []int32, states [][]float32) { visit(entities, states[0]) })
	for i, v := range got {
		if v != want[i] {
			t.Fatalf("%s: state %d of entity %d is visited as %g, want %g", what, i%d, i/d, v, want[i])
		}
	}
}

func compareDistances(t *testing.T, what string, p *Propagator, q Query) {
	t.Helper()
	want := make([]uint8, p.graph.Entities)
	search.NewSearcher(p.graph).Search(q.Source, p.configuration.Layers, q.Removal, want)
	for o, hops := range want {
		if got, reached := p.Distance(int32(o)); reached != (hops != reach.Unreached) || reached && got != int(hops) {
			t.Fatalf("%s: distance %d, %v to %d, want %d", what, got, reached, o, hops)
		}
	}
}

// TestRefusesOtherGrounds gives queries a ground that does not fit.
func TestRefusesOtherGrounds(t *testing.T) {
	t.Parallel()
	c, k := groundModel(3, 8), kernel.Available()[0]
	g := golden.RandomGraph(t, rand.New(rand.NewPCG(1, 2)), 20, 3, 40)
	w, p := loaded(t, g, c, true, k), New(g, c, k)
	ground := NewGround(p)
	if err := ground.Forward(t.Context(), w, 1, 1); err != nil {
		t.Fatal(err)
	}
	for what, q := range map[string]Query{
		"another relation": {Relation: 2, Ground: ground},
		"training":         {Relation: 1, Ground: ground, Training: true},
		"a radius beyond":  {Relation: 1, Ground: ground, Radius: 4},
		"only a radius":    {Relation: 1, Radius: 2},
	} {
		if err := p.Forward(t.Context(), w, q); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if err := p.Forward(t.Context(), w, Query{Relation: 4, Ground: ground}); err != nil {
		t.Errorf("the inverse relation: %v", err)
	}
	c.Policy, c.Delta = configuration.PolicyWindow, 2
	if err := NewGround(New(g, c, k)).Forward(t.Context(), loaded(t, g, c, false, k), 1, 1); err == nil {
		t.Error("the ground of a window: no error")
	}
}
