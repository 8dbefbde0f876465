package head

import (
	"slices"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// A head runs for many queries, and none may affect the next. SumInto sums query by query and ignores previous values.
func TestQueriesLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	for _, k := range kernel.Available() {
		c := configuration.Default()
		c.Dim, c.Negatives, c.DeltaMode, c.Attention = 16, 20, configuration.DeltaSpecific, configuration.AttentionOwn
		trial := newTrial[float32](t, c, .2)
		h, err := New(c, 1+c.Negatives, trial.set, Propagation[float32](trial.fake), Products[float32](k))
		if err != nil {
			t.Fatal(err)
		}
		other := slices.Clone(trial.entities)
		slices.Reverse(other)
		run := func(entities []int32) *Gradients[float32] {
			g := h.NewGradients()
			if _, err := h.Run(trial.fake.query, entities, 1, g); err != nil {
				t.Fatal(err)
			}
			return g
		}
		first, between, again := run(trial.entities), run(other), run(trial.entities)
		for i, name := range h.names {
			if !slices.Equal(first.Tensors[i], again.Tensors[i]) {
				t.Errorf("%s: the gradient of %s differs the second time", k.Name(), name)
			}
		}
		into := parameters.NewSet[float32](parameters.Layout(c, 4))
		for _, name := range h.names {
			for j := range into.Data(name) {
				into.Data(name)[j] = 7
			}
		}
		h.SumInto([]*Gradients[float32]{first, between}, into)
		for i, name := range h.names {
			for j, got := range into.Data(name) {
				if want := first.Tensors[i][j] + between.Tensors[i][j]; got != want {
					t.Fatalf("%s: %s[%d] sums to %g, want %g", k.Name(), name, j, got, want)
				}
			}
		}
	}
}
