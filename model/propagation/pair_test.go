package propagation

import (
	"slices"
	"testing"

	"tagnet/model/configuration"
	"tagnet/model/kernel"
)

// TestPairs holds two queries side by side to each alone, with weights made for scoring and for
// training, in whatever order a propagator is asked for one or two.
func TestPairs(t *testing.T) {
	for _, k := range kernel.Available() {
		t.Run(k.Name(), func(t *testing.T) {
			t.Setenv("TAGNET_KERNEL", k.Name())
			checkPairs(t)
		})
	}
}

func checkPairs(t *testing.T) {
	for _, training := range []bool{false, true} {
		for _, dependent := range []bool{false, true} {
			c := configuration.Default()
			c.DegreeMessages, c.Dependent, c.Delta, c.Layers = true, dependent, 1, 3
			s := newSteady(t, c, 300, 900, training)
			reached := func(lane int) (out []float32) {
				s.propagator.Reached(lane, func(_ []int32, states [][]float32) { out = append(out, states[0]...) })
				return out
			}
			for i, q := range s.queries {
				q.Training = false
				other := int32(i+5) % 20
				alone := q
				alone.Relation = other
				var want [2][]float32
				for lane, query := range []Query{q, alone} {
					if err := s.propagator.Forward(s.weights, query); err != nil {
						t.Fatal(err)
					}
					want[lane] = reached(0)
				}
				if err := s.propagator.ForwardPair(s.weights, q, other); err != nil {
					t.Fatal(err)
				}
				for lane := range want {
					if !slices.Equal(reached(lane), want[lane]) {
						t.Fatalf("weights for training %v, dependent %v, query %d: lane %d differs from the query alone", training, dependent, i, lane)
					}
				}
			}
		}
	}
}

// TestPairsWithinWindows holds Pairs to what the kernel says, and to a window: nowhere else does
// ForwardPair do what Pairs recommends.
func TestPairsWithinWindows(t *testing.T) {
	for _, k := range kernel.Available() {
		t.Setenv("TAGNET_KERNEL", k.Name())
		for _, dim := range []int{16, 32, 64} {
			for _, policy := range []string{configuration.PolicyWindow, configuration.PolicyFull, configuration.PolicyAStar, configuration.PolicyWindowWithAStar} {
				c := configuration.Default()
				c.Policy, c.Dim, c.Layers = policy, dim, 2
				s := newSteady(t, c, 30, 60, false)
				windowed := policy == configuration.PolicyWindow
				if got, want := s.propagator.Pairs(), windowed && k.Pairs(kernel.DistMult, kernel.PNA, dim); got != want {
					t.Errorf("%s, %s, dim %d: Pairs is %v, want %v", k.Name(), policy, dim, got, want)
				}
				if err := s.propagator.ForwardPair(s.weights, s.queries[0], 1); (err == nil) != windowed {
					t.Errorf("%s, %s, dim %d: a pair's error is %v", k.Name(), policy, dim, err)
				}
			}
		}
	}
}
