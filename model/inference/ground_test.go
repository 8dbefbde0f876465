package inference_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

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
	takesTurns(t, s, entities)
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

// takesTurns checks that who waits for the ground of another group is not overtaken by those of the group that is held, except by
// workers of those that hold it, and that a wait ends with its context.
func takesTurns(t *testing.T, s *inference.Scorer, entities int) {
	t.Helper()
	release, err := s.Hold(t.Context(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := s.Hold(ctx, 1, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait for a group that is not free: error %v", err)
	}
	order := make(chan int32, 2)
	hold := func(relation int32) {
		release, err := s.Hold(t.Context(), relation, 1)
		if err != nil {
			t.Error(err)
			return
		}
		order <- relation
		release()
	}
	go hold(1)
	time.Sleep(100 * time.Millisecond)
	go hold(0) // another one of the group that is held
	time.Sleep(100 * time.Millisecond)
	scores := make([]float32, entities)
	if err := s.Worker().Scores(t.Context(), 2, []int32{0}, [][]float32{scores}); err != nil { // of the holder
		t.Error(err)
	}
	release()
	if first, second := <-order, <-order; first != 1 || second != 0 {
		t.Errorf("group %d came before %d, which waited first", first, second)
	}
}
