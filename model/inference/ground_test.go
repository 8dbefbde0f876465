package inference_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"tagnet/model/configuration"
	"tagnet/model/inference"
	"tagnet/model/internal/golden"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

// TestGroundsAreShared has workers score queries of several groups at once, which wait for each other's ground, and compares with
// one worker.
func TestGroundsAreShared(t *testing.T) {
	t.Parallel()
	c := configuration.Default()
	c.Relations, c.RelationLayers, c.Dependent, c.Layers = configuration.RelationsGraph, 2, false, 4
	c.Policy, c.Aggregate, c.Delta = configuration.PolicyFull, configuration.AggregateSum, 0
	const entities, relations, workers, each = 60, 3, 4, 12
	g := golden.RandomGraph(t, rand.New(rand.NewPCG(3, 3)), entities, relations, 90)
	s, err := inference.New(g, nil, c, parameters.Initialize(parameters.Layout(c, g.RelationCount()), 2), kernel.Available()[0])
	if err != nil {
		t.Fatal(err)
	}
	score := func(w *inference.Worker, source, relation int) []float32 {
		scores := make([]float32, entities)
		if err := w.Scores(t.Context(), int32(source), []int32{int32(relation)}, [][]float32{scores}); err != nil {
			t.Error(err)
		}
		return scores
	}
	var waiting sync.WaitGroup
	got := make([][][]float32, workers)
	for i := range got {
		got[i] = make([][]float32, each)
		waiting.Go(func() {
			w := s.Worker()
			for n := range each {
				got[i][n] = score(w, 7*i+n, (i+n)%(2*relations))
			}
		})
	}
	waiting.Wait()
	w := s.Worker()
	for i := range got {
		for n := range each {
			if !slices.Equal(got[i][n], score(w, 7*i+n, (i+n)%(2*relations))) {
				t.Errorf("worker %d, query %d has other scores alone", i, n)
			}
		}
	}
}
