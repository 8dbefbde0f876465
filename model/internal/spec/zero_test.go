package spec_test

import (
	"fmt"
	"testing"

	"tagnet/formats/hop"
	"tagnet/model/internal/spec"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/weights/parameters"
)

// TestGoldenRelationsFromAGraph compares everything that the cases of an independent implementation have.
func TestGoldenRelationsFromAGraph(t *testing.T) {
	t.Parallel()
	for name, z := range golden.ZeroCases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := spec.New(z.Graph, z.Configuration, z.Parameters)
			if err != nil {
				t.Fatal(err)
			}
			for i, q := range z.Queries {
				pass := m.Forward(spec.Query{Query: q.Query})
				for o, want := range q.Distance {
					if got := pass.Distances[o]; got != uint8(want) && !(want < 0 && got == hop.Unreached) {
						t.Errorf("query %d: the distance of %d is %d, want %d", i, o, got, want)
					}
				}
				check(t, i, golden.Compare("relation states", pass.RelationStates(), q.States.Data, golden.Tolerance64))
				check(t, i, golden.Compare("score", pass.Scores, q.Score.Data, golden.Tolerance64))
			}
			for i, e := range z.Training {
				pass := m.Forward(spec.Query{Query: e.Query, Training: true})
				var logits []float64
				for _, o := range append([]int32{e.Answer}, e.Negatives...) {
					logits = append(logits, pass.Scores[o])
				}
				check(t, i, golden.Compare("logits", logits, e.Logits.Data, golden.Tolerance64))
				loss, gradient := spec.Loss(z.Configuration, pass.Scores, e.Answer, e.Negatives)
				check(t, i, golden.Compare("loss", []float64{loss}, []float64{e.Loss}, golden.Tolerance64))
				gradients := parameters.NewSet[float64](parameters.Layout(z.Configuration, z.Graph.RelationCount()))
				pass.Backward(gradient, gradients)
				if err := golden.CompareSets(gradients, e.Gradients, golden.Tolerance64); err != nil {
					t.Error(fmt.Errorf("training query %d: gradients: %w", i, err))
				}
			}
		})
	}
}
