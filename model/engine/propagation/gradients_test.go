package propagation_test

import (
	"context"
	"testing"

	"tagnet/model/engine/head"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/propagation"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/weights/parameters"
)

// headed is a propagation as the head runs it, with the current query and its gradients.
type headed struct {
	*propagation.Propagator
	weights   *propagation.Weights
	query     propagation.Request
	gradients *propagation.Gradients
}

func (h *headed) Forward() error {
	return h.Propagator.Forward(context.Background(), h.weights, h.query)
}

func (h *headed) Backward(entities []int32, gradient, query []float32) error {
	if err := h.Propagator.Backward(entities, gradient, h.gradients); err != nil {
		return err
	}
	copy(query, h.gradients.Query)
	return nil
}

// TestGoldenGradients compares the loss and the gradients of every golden batch, through head and
// propagation, on every kernel variant.
func TestGoldenGradients(t *testing.T) {
	t.Parallel()
	for _, c := range golden.Cases(t) {
		for _, k := range kernel.Available() {
			t.Run(c.Name+"/"+k.Name(), func(t *testing.T) { compareGradients(t, c, k) })
		}
	}
}

func compareGradients(t *testing.T, c *golden.Case, k kernel.Kernel) {
	t.Helper()
	set := c.Parameters32()
	gradients := parameters.NewSet[float32](parameters.Layout(c.Configuration, c.Graph.RelationCount()))
	weights := propagation.NewWeights(c.Graph, nil, c.Configuration, true)
	if err := weights.Load(k, set); err != nil {
		t.Fatal(err)
	}
	h := &headed{Propagator: propagation.New(c.Graph, c.Configuration, k), weights: weights}
	network, err := head.New(c.Configuration, 1+len(c.Queries[0].Negatives), set, h, k)
	if err != nil {
		t.Fatal(err)
	}
	var batch []*propagation.Gradients
	var headGradients []*head.Gradients[float32]
	var relations []int32
	total := 0.0
	for _, q := range c.Queries {
		h.query = propagation.Request{Query: q.Query, Training: true}
		h.gradients = propagation.NewGradients(c.Configuration, c.Graph.RelationCount())
		into := network.NewGradients()
		loss, err := network.Run(weights.Relations.Query(q.Relation), append([]int32{q.Answer}, q.Negatives...), 1/float64(len(c.Queries)), into)
		if err != nil {
			t.Fatal(err)
		}
		total += loss
		copy(h.gradients.Query, into.Query)
		batch, headGradients, relations = append(batch, h.gradients), append(headGradients, into), append(relations, q.Relation)
	}
	if err := golden.Compare("batch loss", []float64{total}, []float64{c.BatchLoss}, golden.Tolerance32); err != nil {
		t.Error(err)
	}
	if err := propagation.Sum(k, weights, batch, relations, gradients); err != nil {
		t.Fatal(err)
	}
	network.SumInto(headGradients, gradients)
	if err := golden.CompareSets(gradients, c.Gradients, golden.Tolerance32); err != nil {
		t.Error(err)
	}
}
