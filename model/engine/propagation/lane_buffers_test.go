package propagation

import (
	"testing"

	"tagnet/model/weights/configuration"
)

// TestFinalStatesOfTwoQueriesShareBuffers expects that levels whose final states are of different
// ages copy one query's states into the same buffers, one per final state of an entity.
func TestFinalStatesOfTwoQueriesShareBuffers(t *testing.T) {
	c := configuration.Default()
	c.Delta, c.Layers = 4, 6
	s := newSteady(t, c, 600, 700, false)
	if err := s.propagator.ForwardBatch(t.Context(), s.weights, s.queries[0], []int32{0, 3}); err != nil {
		t.Fatal(err)
	}
	ages, window := map[int]bool{}, s.propagator.policy.(*windowPolicy)
	s.propagator.Reached(1, func(entities []int32, _ [][]float32) {
		_, last, _ := window.finalAges(entities[0])
		ages[last] = true
	})
	if held := len(window.final.lane); len(ages) < 2 || held != s.propagator.Depth() {
		t.Errorf("final states of %d ages take %d buffers, want several ages and %d", len(ages), held, s.propagator.Depth())
	}
}
