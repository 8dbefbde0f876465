package propagation_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/engine/propagation"
	"tagnet/model/graph"
	"tagnet/model/internal/spec/golden"
)

// TestForwardIsCanceled ends a propagation in its second layer. The propagator then computes the query
// as another one does.
func TestForwardIsCanceled(t *testing.T) {
	t.Parallel()
	for _, c := range golden.Cases(t) {
		k := kernel.Available()[0]
		weights := propagation.NewWeights(c.Graph, nil, c.Configuration, false)
		if err := weights.Load(k, c.Parameters32()); err != nil {
			t.Fatal(err)
		}
		q := propagation.Request{Query: graph.Query{Source: c.Queries[0].Source, Relation: c.Queries[0].Relation}}
		p := propagation.New(c.Graph, c.Configuration, k)
		if err := p.Forward(golden.Ending(t.Context(), 1), weights, q); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", c.Name, err)
		}
		var states [2][]float32
		for i, p := range []*propagation.Propagator{p, p.Clone()} {
			if err := p.Forward(t.Context(), weights, q); err != nil {
				t.Fatal(err)
			}
			all := make([]int32, c.Graph.Entities)
			for o := range all {
				all[o] = int32(o)
			}
			states[i] = make([]float32, len(all)*p.Depth()*p.Width())
			p.Candidates(all, states[i], make([]int32, len(all)))
		}
		if !slices.Equal(states[0], states[1]) {
			t.Errorf("%s: other states after a propagation that was canceled", c.Name)
		}
	}
}
