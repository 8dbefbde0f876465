package spec_test

import (
	"fmt"
	"math"
	"testing"

	"tagnet/model/internal/spec"
	"tagnet/model/internal/spec/golden"
)

// TestGoldenExplanations compares the gradients by messages and the best paths with the golden ones.
func TestGoldenExplanations(t *testing.T) {
	t.Parallel()
	for _, e := range golden.Explanations(t) {
		t.Run(fmt.Sprintf("%s/%d", e.Case.Name, e.Answer), func(t *testing.T) {
			t.Parallel()
			m, err := spec.New(e.Case.Graph, e.Case.Configuration, e.Case.Parameters)
			if err != nil {
				t.Fatal(err)
			}
			pass := m.Forward(spec.Query{Query: e.Query.Query, Training: true})
			if err := golden.Compare("score", pass.Scores[e.Answer:e.Answer+1], []float64{e.Score}, golden.Tolerance64); err != nil {
				t.Error(err)
			}
			edges := pass.Edges(e.Answer)
			largest := compareEdges(t, edges, e.Layers)
			comparePaths(t, spec.BestPaths(edges, e.Query.Source, e.Answer, e.K), e.Paths, golden.Tolerance64*largest)
		})
	}
}

// compareEdges compares the edges of all layers, and returns the largest gradient.
func compareEdges(t *testing.T, got [][]spec.Edge, want [][]golden.ExplainedEdge) (largest float64) {
	t.Helper()
	type key struct {
		layer                      int
		sender, relation, receiver int32
	}
	gradients := make(map[key]float64)
	for l, edges := range want {
		for _, e := range edges {
			gradients[key{l, e.Sender, e.Relation, e.Receiver}] = e.Gradient
			largest = math.Max(largest, math.Abs(e.Gradient))
		}
	}
	for l, edges := range got {
		for _, e := range edges {
			k := key{l, e.Sender, e.Relation, e.Receiver}
			if !(math.Abs(e.Value-gradients[k]) <= golden.Tolerance64*largest) {
				t.Errorf("gradient of %+v is %g, want %g", k, e.Value, gradients[k])
			}
			delete(gradients, k)
		}
	}
	for k, gradient := range gradients {
		t.Errorf("gradient of %+v is missing, want %g", k, gradient)
	}
	return largest
}

func comparePaths(t *testing.T, got []spec.Path, want []golden.ExplainedPath, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d paths, want %d", len(got), len(want))
		return
	}
	for i, path := range got {
		if !(math.Abs(path.Weight-want[i].Weight) <= tolerance) {
			t.Errorf("path %d has weight %g, want %g", i, path.Weight, want[i].Weight)
		}
		var edges [][3]int32
		for _, e := range path.Edges {
			edges = append(edges, [3]int32{e.Sender, e.Relation, e.Receiver})
		}
		if fmt.Sprint(edges) != fmt.Sprint(want[i].Edges) {
			t.Errorf("path %d is %v, want %v", i, edges, want[i].Edges)
		}
	}
}
