package spec_test

import (
	"testing"

	"tagnet/model/internal/spec"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/weights/parameters"
)

func TestGoldenFloat64(t *testing.T) {
	t.Parallel()
	for _, c := range golden.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			m, err := spec.New(c.Graph, c.Configuration, c.Parameters)
			if err != nil {
				t.Fatal(err)
			}
			gradients := parameters.NewSet[float64](parameters.Layout(c.Configuration, c.Graph.RelationCount()))
			batchLoss := 0.0
			for i, q := range c.Queries {
				pass := m.Forward(spec.Query{Query: q.Query, Training: true})
				comparePass(t, i, pass, q)
				loss, gradient := spec.Loss(c.Configuration, pass.Scores, q.Answer, q.Negatives)
				check(t, i, golden.Compare("loss", []float64{loss}, []float64{q.Loss}, golden.Tolerance64))
				if rank := spec.RawRankPessimistic(pass.Scores, q.Answer); rank != q.RawRankPessimistic {
					t.Errorf("query %d: rank %d, want %d", i, rank, q.RawRankPessimistic)
				}
				for o := range gradient {
					gradient[o] /= float64(len(c.Queries))
				}
				batchLoss += loss / float64(len(c.Queries))
				pass.Backward(gradient, gradients)
			}
			if err := golden.Compare("batch loss", []float64{batchLoss}, []float64{c.BatchLoss}, golden.Tolerance64); err != nil {
				t.Error(err)
			}
			if err := golden.CompareSets(gradients, c.Gradients, golden.Tolerance64); err != nil {
				t.Errorf("gradients: %v", err)
			}
		})
	}
}

// comparePass compares everything that a forward pass computes.
func comparePass(t *testing.T, i int, pass *spec.Pass, q golden.Query) {
	t.Helper()
	if string(pass.Distances) != string(q.Distances) {
		t.Errorf("query %d: distances are %v, want %v", i, pass.Distances, q.Distances)
	}
	for l, want := range q.Layers {
		if got := goldenLayer(pass.Counts[l]); got != want {
			t.Errorf("query %d, layer %d: %+v, want %+v", i, l+1, got, want)
		}
	}
	for l, want := range q.Hiddens {
		check(t, i, golden.Compare("hiddens", pass.Hiddens[l], want, golden.Tolerance64))
	}
	if len(pass.Priorities) != len(q.Priority) {
		t.Errorf("query %d: %d layers of priorities, want %d", i, len(pass.Priorities), len(q.Priority))
	}
	for l, want := range q.Priority {
		check(t, i, golden.Compare("priority", pass.Priorities[l], want, golden.Tolerance64))
	}
	check(t, i, golden.Compare("attention", pass.Attention, q.Attention, golden.Tolerance64))
	check(t, i, golden.Compare("final", pass.Final, q.Final, golden.Tolerance64))
	check(t, i, golden.Compare("score", pass.Scores, q.Score, golden.Tolerance64))
}

func check(t *testing.T, query int, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("query %d: %v", query, err)
	}
}

func goldenLayer(c spec.Counts) golden.Layer {
	return golden.Layer{
		Active: c.Active, AStar: c.AStar, Kept: c.Kept,
		KeptEmpty: c.KeptEmpty, PrunedEmpty: c.PrunedEmpty, PrunedRedundant: c.PrunedRedundant,
	}
}
