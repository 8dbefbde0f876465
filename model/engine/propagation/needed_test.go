package propagation

import (
	"fmt"
	"math"
	"testing"

	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// TestNeededStatesSuffice compares training that computes only the states its candidates depend on
// with training that computes all.
func TestNeededStatesSuffice(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{configuration.DeltaFixed, configuration.DeltaSpecific} {
		for delta := range 4 {
			for _, message := range []string{configuration.MessageDistMult, configuration.MessageTransE} {
				for _, degree := range []bool{false, true} {
					c := configuration.Default()
					c.DeltaMode, c.Delta, c.Message, c.Bias, c.DegreeMessages = mode, delta, message, true, degree
					t.Run(fmt.Sprint(mode, delta, message, degree), func(t *testing.T) { compareNeeded(t, c) })
				}
			}
		}
	}
	for _, message := range []string{configuration.MessageDistMult, configuration.MessageTransE} {
		for _, dropout := range []float64{0, 0.3} {
			c := configuration.Default()
			c.Policy, c.Layers, c.Message, c.Dropout, c.DegreeMessages = configuration.PolicyFull, 3, message, dropout, true
			t.Run(fmt.Sprint(c.Policy, message, dropout), func(t *testing.T) { compareNeeded(t, c) })
		}
	}
}

func compareNeeded(t *testing.T, c configuration.Configuration) {
	some, all := newSteady(t, c, 400, 700, true), newSteady(t, c, 400, 700, true)
	fewer := false
	for i := range some.queries {
		removed := some.queries[i]
		if senders, _ := some.propagator.graph.In(removed.Source); len(senders) > 0 {
			removed.Answer, removed.Removal = senders[0], graph.RemoveOneHop
		}
		some.queries[i], all.queries[i] = removed, removed
		some.queries[i].Candidates = some.entities
		some.run(t, i)
		all.run(t, i)
		fewer = fewer || some.propagator.Updated() < all.propagator.Updated()
		near(t, "states", some.states, all.states)
		near(t, "query", some.gradients.Query, all.gradients.Query)
		for l := range some.gradients.layers {
			x, y := &some.gradients.layers[l], &all.gradients.layers[l]
			near(t, "relations", some.gradients.Tables[l], all.gradients.Tables[l])
			near(t, "degree", x.degree, y.degree)
			near(t, "bias", x.bias, y.bias)
			d := c.Dim
			near(t, "own", x.maps[0][:d*d], y.maps[0][:d*d])
			for k := range x.maps {
				near(t, "aggregate", x.maps[k][d*d:], y.maps[k][d*d:])
			}
		}
	}
	if !fewer {
		t.Error("the candidates need as many updates as all entities")
	}
}

func near(t *testing.T, what string, got, want []float32) {
	t.Helper()
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(float64(v)))
	}
	for i, v := range got {
		if diff := math.Abs(float64(v - want[i])); !(diff <= 1e-5*(largest+1e-3)) {
			t.Fatalf("%s: [%d] is %g, want %g", what, i, v, want[i])
		}
	}
}
