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
	window, levels := s.propagator.policy.(*windowPolicy), 0
	s.propagator.Score(1, make([]float32, 600), func([][]float32, []float32) { levels++ })
	if held := len(window.final.copies); levels < 4 || held != s.propagator.Depth() {
		t.Errorf("final states of %d levels take %d buffers, want several levels and %d", levels, held, s.propagator.Depth())
	}
}
