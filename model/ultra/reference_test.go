package ultra_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	tagnet "tagnet/model/internal/reference"
	"testing"

	"tagnet/formats/reach"
	"tagnet/model/graph"
	compare "tagnet/model/internal/golden"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
	"tagnet/model/ranking"
	"tagnet/model/relations"
	"tagnet/model/search"
	"tagnet/model/ultra"
	"tagnet/model/ultra/internal/reference"
	"tagnet/model/ultra/ultratest"
)

// TestScoresAreThoseOfTheReference compares the scores of random queries on random graphs, sparse and dense ones, exact and within
// a radius. Package propagation sees that whole states and differences are both propagated.
func TestScoresAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	small, wide := drawn()
	eachVariant(t, func(t *testing.T, k kernel.Kernel) {
		rng := rand.New(rand.NewPCG(5, 6))
		for i := range 4 {
			entities, count := 20+rng.IntN(40), 1+rng.IntN(4)
			g := compare.RandomGraph(t, rng, entities, count, entities*[]int{1, 6}[i%2]/2)
			edges := tagnet.RelationGraph(g)
			scorer := scorer(t, small, g, relations.GraphOf(g), k)
			distances := make([]uint8, entities)
			for _, radius := range []int{ultra.Layers, 1 + rng.IntN(ultra.Layers-1)} {
				scorer.Within(radius)
				w, base := scorer.Worker(), int32(rng.IntN(count))
				states := reference.RelationStates(wide, edges, g.RelationCount(), base)[ultra.Layers]
				tables := reference.Tables(wide, states)
				source := int32(rng.IntN(entities))
				for _, relation := range []int32{base, g.Inverse(base)} {
					scores := scoresOf(t, w, g, source, relation)
					search.NewSearcher(g).Search(source, radius, graph.Removal{}, distances)
					for o, want := range distances {
						if hops, reached := w.Distance(int32(o)); reached != (want != reach.Unreached) || reached && hops != int(want) {
							t.Errorf("(%d, %d, ?), radius %d: distance to %d is %d, %v, want %d", source, relation, radius, o, hops, reached, want)
						}
					}
					query := states[int(relation)*ultra.Dim:][:ultra.Dim]
					final := reference.StatesWithin(wide, g, tables, source, query, radius)[ultra.Layers]
					want := reference.Scores(wide, final, query)
					what := fmt.Sprintf("%d entities, %d edges, (%d, %d, ?), radius %d", entities, g.Edges(), source, relation, radius)
					if err := compare.Compare(what, scores, want, compare.Tolerance32); err != nil {
						t.Error(err)
					}
				}
			}
		}
	})
}

// TestScoresWithoutAFact compares the scores in a graph without a fact, whose relation graph keeps it, between scores in the whole
// graph.
func TestScoresWithoutAFact(t *testing.T) {
	t.Parallel()
	small, wide := drawn()
	eachVariant(t, func(t *testing.T, k kernel.Kernel) {
		rng := rand.New(rand.NewPCG(7, 8))
		var facts []graph.Fact
		const entities, count = 30, 3
		for range 60 {
			facts = append(facts, graph.Fact{Head: int32(rng.IntN(entities)), Relation: int32(rng.IntN(count)), Tail: int32(rng.IntN(entities))})
		}
		facts[0].Tail = facts[0].Head
		facts = slices.Compact(slices.SortedFunc(slices.Values(facts), func(a, b graph.Fact) int {
			return slices.Compare([]int32{a.Head, a.Relation, a.Tail}, []int32{b.Head, b.Relation, b.Tail})
		}))
		build := func(facts []graph.Fact) *graph.Graph {
			g, err := graph.New(entities, count, facts)
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		g := build(facts)
		edges, s := tagnet.RelationGraph(g), scorer(t, small, g, relations.GraphOf(g), k)
		s.Within(2) // which leaves scores in graphs without edges exact
		w := s.Worker()
		for i := 0; i < len(facts); i += 7 {
			f := facts[i]
			without, base := build(slices.Delete(slices.Clone(facts), i, i+1)), f.Relation
			states := reference.RelationStates(wide, edges, g.RelationCount(), base)[ultra.Layers]
			tables := reference.Tables(wide, states)
			for relation, ends := range map[int32][2]int32{base: {f.Head, f.Tail}, g.Inverse(base): {f.Tail, f.Head}} {
				scoresOf(t, w, g, ends[0], relation)
				scores := make([]float32, entities)
				if err := w.ScoresWithout(t.Context(), ends[0], g.RemovalOf(ends[0], relation, ends[1]), nil, []int32{relation}, [][]float32{scores}); err != nil {
					t.Fatal(err)
				}
				query := states[int(relation)*ultra.Dim:][:ultra.Dim]
				want := reference.Scores(wide, reference.EntityStates(wide, without, tables, ends[0], query)[ultra.Layers], query)
				if err := compare.Compare(fmt.Sprintf("(%d, %d, ?) without %d", ends[0], relation, ends[1]), scores, want, compare.Tolerance32); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// drawn returns weights in both precisions.
func drawn() (*parameters.Set[float32], *parameters.Set[float64]) {
	small := ultratest.Drawn(3)
	return small, compare.Widened(small)
}

// TestRadiusWhereMostIsNear compares the scores of a source that reaches nearly everything within three edges, and the end of a
// chain only beyond the radius.
func TestRadiusWhereMostIsNear(t *testing.T) {
	t.Parallel()
	small, wide := drawn()
	rng := rand.New(rand.NewPCG(3, 4))
	const core, entities = 30, 36
	var facts []graph.Fact
	for range 5 * core {
		facts = append(facts, graph.Fact{Head: int32(rng.IntN(core)), Relation: int32(rng.IntN(2)), Tail: int32(rng.IntN(core))})
	}
	for o := int32(core); o < entities; o++ {
		facts = append(facts, graph.Fact{Head: o - 1, Relation: 1, Tail: o})
	}
	g, err := graph.New(entities, 2, facts)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Named("portable")
	if err != nil {
		t.Fatal(err)
	}
	scorer := scorer(t, small, g, relations.GraphOf(g), k)
	states := reference.RelationStates(wide, tagnet.RelationGraph(g), g.RelationCount(), 0)[ultra.Layers]
	tables, query := reference.Tables(wide, states), states[:ultra.Dim]
	for radius := 1; radius <= ultra.Layers; radius++ {
		scorer.Within(radius)
		scores := scoresOf(t, scorer.Worker(), g, 0, 0)
		final := reference.StatesWithin(wide, g, tables, 0, query, radius)[ultra.Layers]
		if err := compare.Compare(fmt.Sprintf("radius %d", radius), scores, reference.Scores(wide, final, query), compare.Tolerance32); err != nil {
			t.Error(err)
		}
	}
}

// TestRefusesOtherQueries checks the errors of queries that do not fit the graph.
func TestRefusesOtherQueries(t *testing.T) {
	t.Parallel()
	g := compare.RandomGraph(t, rand.New(rand.NewPCG(7, 8)), 9, 2, 12)
	w := scorer(t, ultratest.Drawn(3), g, relations.GraphOf(g), kernel.Available()[0]).Worker()
	for what, c := range map[string]struct{ source, relation, scores int32 }{
		"no relation": {0, -1, 9}, "a relation beyond": {0, 4, 9}, "no entity": {-1, 0, 9}, "an entity beyond": {9, 0, 9}, "too few scores": {0, 0, 8},
	} {
		if err := w.Scores(t.Context(), c.source, []int32{c.relation}, [][]float32{make([]float32, c.scores)}); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// TestScoresThatAreNotFinite checks that such a score is an error that names its query.
func TestScoresThatAreNotFinite(t *testing.T) {
	t.Parallel()
	g := compare.RandomGraph(t, rand.New(rand.NewPCG(7, 8)), 9, 2, 12)
	k, err := kernel.Named("portable")
	if err != nil {
		t.Fatal(err)
	}
	p := ultratest.Drawn(3)
	p.Data("entity_model.mlp.2.bias")[0] = float32(math.Inf(1))
	err = scorer(t, p, g, relations.GraphOf(g), k).Worker().Scores(t.Context(), 4, []int32{2}, [][]float32{make([]float32, 9)})
	if !errors.Is(err, ranking.ErrNotFinite) || !strings.HasPrefix(err.Error(), "scoring (4, 2, ?): 9 of 9 scores") {
		t.Errorf("infinite scores: %v", err)
	}
}

// TestScoringIsCanceled ends a base relation's propagation, and a query's, in a layer.
func TestScoringIsCanceled(t *testing.T) {
	t.Parallel()
	g := compare.RandomGraph(t, rand.New(rand.NewPCG(7, 8)), 9, 2, 12)
	k, err := kernel.Named("portable")
	if err != nil {
		t.Fatal(err)
	}
	s := scorer(t, ultratest.Drawn(3), g, relations.GraphOf(g), k)
	w, scores := s.Worker(), make([]float32, 9)
	for what, layers := range map[string]int{"the ground": 2, "the query": ultra.Layers + 2} {
		err := s.Worker().Scores(compare.Ending(t.Context(), layers), 4, []int32{0}, [][]float32{scores})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", what, err)
		}
	}
	got, want := scoresOf(t, w, g, 4, 0), scoresOf(t, scorer(t, ultratest.Drawn(3), g, nil, k).Worker(), g, 4, 0)
	if !slices.Equal(got, want) {
		t.Errorf("scores %v after some that were canceled, want %v", got, want)
	}
}
