package steps

import (
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// The whole float32 path, Gorgonia's graph included, against the golden loss and gradients.
func TestGoldenFloat32(t *testing.T) {
	for _, c := range golden.Cases(t) {
		for _, k := range kernel.Available() {
			t.Run(c.Name+"/"+k.Name(), func(t *testing.T) {
				trainer, examples := goldenTrainer(t, c, k, 2)
				result, err := trainer.differentiate(examples, 1)
				if err != nil {
					t.Fatal(err)
				}
				if err := golden.Compare("batch loss", []float64{result.Loss}, []float64{c.BatchLoss}, golden.Tolerance32); err != nil {
					t.Error(err)
				}
				if err := golden.CompareSets(trainer.gradients, c.Gradients, golden.Tolerance32); err != nil {
					t.Errorf("gradients: %v", err)
				}
			})
		}
	}
}

// goldenTrainer trains on a golden case, whose queries all have as many negatives.
func goldenTrainer(t *testing.T, c *golden.Case, k kernel.Kernel, threads int) (*Trainer, []Example) {
	t.Helper()
	conf := c.Configuration
	conf.Negatives = len(c.Queries[0].Negatives)
	var examples []Example
	for i, q := range c.Queries {
		if len(q.Negatives) != conf.Negatives {
			t.Fatalf("query %d has %d negatives, others %d", i, len(q.Negatives), conf.Negatives)
		}
		examples = append(examples, Example{Query: q.Query,
			Negatives: q.Negatives, Key: uint64(i)})
	}
	p := c.Parameters32()
	trainer, err := New(c.Graph, nil, conf, p, NewAdam(parameters.Layout(conf, c.Graph.RelationCount()), 1e-2, 0, k), threads, k)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range c.Queries {
		if got := configuration.Removal(conf.Remove); got != q.Removal {
			t.Fatalf("query %d: removal %v, want %v", i, got, q.Removal)
		}
	}
	return trainer, examples
}
