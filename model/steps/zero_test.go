package steps

import (
	"testing"

	"tagnet/model/engine/inference"
	"tagnet/model/engine/kernel"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/weights/parameters"
)

// TestGoldenRelationsFromAGraph compares scores, losses and gradients of windows whose relations come
// from a graph of them.
func TestGoldenRelationsFromAGraph(t *testing.T) {
	t.Parallel()
	for name, z := range golden.ZeroCases(t) {
		for _, k := range kernel.Available() {
			t.Run(name+"/"+k.Name(), func(t *testing.T) {
				t.Parallel()
				compareScores(t, z, k)
				compareTraining(t, z, k)
			})
		}
	}
}

// narrowed returns the parameters of a case in float32.
func narrowed(z *golden.Zero) *parameters.Set[float32] {
	return (&golden.Case{Configuration: z.Configuration, Graph: z.Graph, Parameters: z.Parameters}).Parameters32()
}

func compareScores(t *testing.T, z *golden.Zero, k kernel.Kernel) {
	t.Helper()
	scorer, err := inference.New(z.Graph, nil, z.Configuration, narrowed(z), k)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range z.Queries {
		scores := make([]float32, z.Graph.Entities)
		if err := scorer.Worker().Scores(t.Context(), q.Source, q.Relation, scores); err != nil {
			t.Fatal(err)
		}
		if err := golden.Compare("scores", scores, q.Score.Data, golden.Tolerance32); err != nil {
			t.Errorf("query %d: %v", i, err)
		}
	}
	for i, e := range z.Training {
		scores, logits := make([]float32, z.Graph.Entities), []float32(nil)
		if err := scorer.Worker().ScoresWithout(t.Context(), e.Query, nil, e.Relation, scores); err != nil {
			t.Fatal(err)
		}
		for _, o := range append([]int32{e.Answer}, e.Negatives...) {
			logits = append(logits, scores[o])
		}
		if err := golden.Compare("logits", logits, e.Logits.Data, golden.Tolerance32); err != nil {
			t.Errorf("training query %d: %v", i, err)
		}
	}
}

// compareTraining compares losses and gradients of each training query, and of all of them as a batch.
func compareTraining(t *testing.T, z *golden.Zero, k kernel.Kernel) {
	t.Helper()
	c := z.Configuration
	trainer, err := New(z.Graph, nil, c, narrowed(z), NewSolver(c, z.Graph.RelationCount(), k), 2, k)
	if err != nil {
		t.Fatal(err)
	}
	compare := func(what string, examples []golden.ZeroExample) {
		var batch []Example
		loss, sum := 0.0, parameters.NewSet[float64](parameters.Layout(c, z.Graph.RelationCount()))
		for _, e := range examples {
			batch = append(batch, Example{Query: e.Query, Negatives: e.Negatives})
			loss += e.Loss / float64(len(examples))
			for i, tensor := range e.Gradients.Tensors {
				for j, v := range tensor.Data {
					sum.Tensors[i].Data[j] += v / float64(len(examples))
				}
			}
		}
		result, err := trainer.differentiate(batch, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := golden.Compare("loss", []float64{result.Loss}, []float64{loss}, golden.Tolerance32); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if err := golden.CompareSets(trainer.gradients, sum, golden.Tolerance32); err != nil {
			t.Errorf("%s: gradients: %v", what, err)
		}
	}
	for _, e := range z.Training {
		compare("a query", []golden.ZeroExample{e})
	}
	compare("the batch", z.Training)
}
