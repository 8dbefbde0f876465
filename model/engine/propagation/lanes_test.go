package propagation

import (
	"fmt"
	"slices"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/weights/configuration"
)

// TestForwardBatch compares the lanes of a batch of two queries with each query alone, bit by bit,
// for every choice of the model, with weights made for scoring and for training.
func TestForwardBatch(t *testing.T) {
	for _, k := range kernel.Available() {
		t.Run(k.Name(), func(t *testing.T) {
			t.Setenv("TAGNET_KERNEL", k.Name())
			for _, f := range configuration.Fields() {
				if f.Group != configuration.Model {
					continue
				}
				for _, choice := range f.Choices() {
					c := configuration.Default()
					c.Delta, c.Layers, c.RelationLayers = 1, 3, 2
					if err := f.Set(&c, choice); err != nil {
						t.Fatal(err)
					}
					c = c.Normalized()
					c.DegreeMessages = true
					if c.Validate() != nil {
						c.DegreeMessages = false
					}
					for _, training := range []bool{false, true} {
						compareLanes(t, fmt.Sprintf("%s %s, weights for training %v", f.Name, choice, training), c, training)
					}
				}
			}
		})
	}
}

func compareLanes(t *testing.T, name string, c configuration.Configuration, training bool) {
	t.Helper()
	s := newSteady(t, c, 100, 300, training)
	if !s.propagator.policy.propagatesTwo() {
		return
	}
	reached := func(lane int) (out []float32) {
		s.propagator.Score(lane, make([]float32, 100), func(states [][]float32, _ []float32) { out = append(out, states[0]...) })
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
				t.Fatalf("%s, query %d: lane %d differs from the query alone", name, i, lane)
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
