package propagation

import (
	"slices"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/weights/configuration"
)

// TestForwardBatch compares the lanes of a batch of two queries with each query alone, bit by bit,
// with weights made for scoring and for training.
func TestForwardBatch(t *testing.T) {
	for _, k := range kernel.Available() {
		t.Run(k.Name(), func(t *testing.T) {
			t.Setenv("TAGNET_KERNEL", k.Name())
			for _, training := range []bool{false, true} {
				for _, dependent := range []bool{false, true} {
					compareLanes(t, training, dependent)
				}
			}
		})
	}
}

func compareLanes(t *testing.T, training, dependent bool) {
	t.Helper()
	c := configuration.Default()
	c.DegreeMessages, c.Dependent, c.Delta, c.Layers = true, dependent, 1, 3
	s := newSteady(t, c, 300, 900, training)
	reached := func(lane int) (out []float32) {
		s.propagator.Reached(lane, func(_ []int32, states [][]float32) { out = append(out, states[0]...) })
		return out
	}
	for i, q := range s.queries {
		q.Training = false
		relations := []int32{q.Relation, int32(i+5) % 20}
		var want [2][]float32
		for lane, relation := range relations {
			alone := q
			alone.Relation = relation
			if err := s.propagator.Forward(t.Context(), s.weights, alone); err != nil {
				t.Fatal(err)
			}
			want[lane] = reached(0)
		}
		if err := s.propagator.ForwardBatch(t.Context(), s.weights, q, relations); err != nil {
			t.Fatal(err)
		}
		for lane := range want {
			if !slices.Equal(reached(lane), want[lane]) {
				t.Fatalf("weights for training %v, dependent %v, query %d: lane %d differs from the query alone", training, dependent, i, lane)
			}
		}
	}
}

// TestMaxLanes checks that MaxLanes follows the kernel within windows and is 1 elsewhere, where a
// batch of two queries is an error.
func TestMaxLanes(t *testing.T) {
	for _, k := range kernel.Available() {
		t.Setenv("TAGNET_KERNEL", k.Name())
		for _, dim := range []int{16, 32, 64} {
			for _, policy := range []string{configuration.PolicyWindow, configuration.PolicyFull, configuration.PolicyAStar, configuration.PolicyWindowWithAStar} {
				c := configuration.Default()
				c.Policy, c.Dim, c.Layers = policy, dim, 2
				s := newSteady(t, c, 30, 60, false)
				windowed := policy == configuration.PolicyWindow
				want := 1
				if windowed && k.FusesLanes(kernel.DistMult, kernel.PNA, dim) {
					want = 2
				}
				if got := s.propagator.MaxLanes(); got != want {
					t.Errorf("%s, %s, dim %d: MaxLanes is %d, want %d", k.Name(), policy, dim, got, want)
				}
				if err := s.propagator.ForwardBatch(t.Context(), s.weights, s.queries[0], []int32{0, 1}); (err == nil) != windowed {
					t.Errorf("%s, %s, dim %d: the error of two lanes is %v", k.Name(), policy, dim, err)
				}
				if err := s.propagator.ForwardBatch(t.Context(), s.weights, s.queries[0], []int32{0}); err != nil {
					t.Errorf("%s, %s, dim %d: one lane: %v", k.Name(), policy, dim, err)
				}
			}
		}
	}
}
