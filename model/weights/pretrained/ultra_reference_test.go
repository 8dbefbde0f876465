package pretrained_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/hop"
	"tagnet/model/engine/inference"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/internal/spec"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/weights/pretrained"
	"tagnet/model/weights/weightstest"
)

// TestScoresAreThoseOfTheReference compares scores and distances of random queries on random graphs, sparse and dense ones, in the
// whole graph and, between these, without a fact, which the relation graph keeps.
func TestScoresAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	small := weightstest.Drawn(3)
	eachVariant(t, func(t *testing.T, k kernel.Kernel) {
		rng := rand.New(rand.NewPCG(5, 6))
		for i := range 4 {
			entities, count := 20+rng.IntN(40), 1+rng.IntN(4)
			g := golden.RandomGraph(t, rng, entities, count, entities*[]int{1, 6}[i%2]/2)
			m, err := spec.New(g, pretrained.ULTRAConfiguration(), golden.Widened(small))
			if err != nil {
				t.Fatal(err)
			}
			w, base := scorer(t, small, g, relations.GraphOf(g), k).Worker(), int32(rng.IntN(count))
			source := int32(rng.IntN(entities))
			for _, relation := range []int32{base, g.Inverse(base)} {
				compareScores(t, w, m, g, spec.Query{Query: graph.Query{Source: source, Relation: relation}})
			}
			if senders, of := g.In(source); len(senders) > 0 {
				relation := g.Inverse(of[0])
				compareScores(t, w, m, g, spec.Query{Query: graph.Query{Source: source, Relation: relation, Answer: senders[0], Removal: graph.RemoveFact}})
			}
			compareScores(t, w, m, g, spec.Query{Query: graph.Query{Source: source, Relation: base}})
		}
	})
}

// compareScores compares the scores and distances of a query.
func compareScores(t *testing.T, w *inference.Worker, m *spec.Model, g *graph.Graph, q spec.Query) {
	t.Helper()
	scores := make([]float32, g.Entities)
	if err := w.ScoresWithout(t.Context(), q.Query, nil, q.Relation, scores); err != nil {
		t.Fatal(err)
	}
	what, want := fmt.Sprintf("%d entities, %d edges, %+v", g.Entities, g.Edges(), q), m.Forward(q)
	for o, distance := range want.Distances {
		if hops, reached := w.Distance(int32(o)); reached != (distance != hop.Unreached) || reached && hops != int(distance) {
			t.Errorf("%s: distance to %d is %d, %v, want %d", what, o, hops, reached, distance)
		}
	}
	if err := golden.Compare(what, scores, want.Scores, golden.Tolerance32); err != nil {
		t.Error(err)
	}
}

// TestRefusesOtherQueries checks the errors of queries that do not fit the graph.
func TestRefusesOtherQueries(t *testing.T) {
	t.Parallel()
	g := golden.RandomGraph(t, rand.New(rand.NewPCG(7, 8)), 9, 2, 12)
	w := scorer(t, weightstest.Drawn(3), g, relations.GraphOf(g), kernel.Available()[0]).Worker()
	for what, c := range map[string]struct{ source, relation, scores int32 }{
		"no relation": {0, -1, 9}, "a relation beyond": {0, 4, 9}, "no entity": {-1, 0, 9}, "an entity beyond": {9, 0, 9}, "too few scores": {0, 0, 8},
	} {
		if err := w.Scores(t.Context(), c.source, c.relation, make([]float32, c.scores)); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// TestScoresThatAreNotFinite checks that such a score is an error that names its query.
func TestScoresThatAreNotFinite(t *testing.T) {
	t.Parallel()
	g := golden.RandomGraph(t, rand.New(rand.NewPCG(7, 8)), 9, 2, 12)
	k, err := kernel.Named("portable")
	if err != nil {
		t.Fatal(err)
	}
	p := weightstest.Drawn(3)
	p.Data("entity_model.mlp.2.bias")[0] = float32(math.Inf(1))
	err = scorer(t, p, g, relations.GraphOf(g), k).Worker().Scores(t.Context(), 4, 2, make([]float32, 9))
	if !errors.Is(err, inference.ErrNotFinite) || !strings.HasPrefix(err.Error(), "scoring (4, 2, ?): 9 of 9 scores") {
		t.Errorf("infinite scores: %v", err)
	}
}

// TestScoringIsCanceled ends a query's propagation in a layer.
func TestScoringIsCanceled(t *testing.T) {
	t.Parallel()
	g := golden.RandomGraph(t, rand.New(rand.NewPCG(7, 8)), 9, 2, 12)
	k, err := kernel.Named("portable")
	if err != nil {
		t.Fatal(err)
	}
	s := scorer(t, weightstest.Drawn(3), g, relations.GraphOf(g), k)
	w, scores := s.Worker(), make([]float32, 9)
	if err := w.Scores(golden.Ending(t.Context(), 2), 4, 0, scores); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that ends: error %v", err)
	}
	got, want := scoresOf(t, w, g, 4, 0), scoresOf(t, scorer(t, weightstest.Drawn(3), g, nil, k).Worker(), g, 4, 0)
	if !slices.Equal(got, want) {
		t.Errorf("scores %v after some that were canceled, want %v", got, want)
	}
}
