package propagation_test

import (
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/engine/propagation"
	"tagnet/model/graph"
	"tagnet/model/internal/spec/golden"
)

// TestSenderPrioritiesAreRelative checks that priorities whose sigmoids all underflow still compare: the value of the
// largest in a layer is 1, and the others follow from the priorities' differences.
func TestSenderPrioritiesAreRelative(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, c := range golden.Cases(t) {
		if !c.Configuration.Prioritized() {
			continue
		}
		for _, bias := range []float32{-110, -1e6} {
			set, k := c.Parameters32(), kernel.Available()[0]
			set.Data("mlp.2.bias")[0] = bias
			weights := propagation.NewWeights(c.Graph, nil, c.Configuration, false)
			if err := weights.Load(k, set); err != nil {
				t.Fatal(err)
			}
			p := propagation.New(c.Graph, c.Configuration, k)
			q := c.Queries[0]
			if err := p.Forward(t.Context(), weights, propagation.Request{Query: graph.Query{Source: q.Source, Relation: q.Relation}}); err != nil {
				t.Fatal(err)
			}
			for l, edges := range p.SenderPriorities(func(int, int32) bool { return true }) {
				largest, least := 0.0, 1.0
				for _, e := range edges {
					compared++
					largest, least = max(largest, e.Value), min(least, e.Value)
				}
				if len(edges) > 0 && (largest != 1 || !(least >= 0.01)) {
					t.Errorf("%s, bias %g, layer %d: values are %g to %g, want 1 to be the largest and none near 0: the priorities differ by less than 5",
						c.Name, bias, l+1, least, largest)
				}
			}
		}
	}
	if compared < 50 { // the cases of the repository alone have 74
		t.Errorf("%d values were compared", compared)
	}
}
