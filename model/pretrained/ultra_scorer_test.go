package pretrained_test

import (
	"testing"

	"tagnet/model/engine/inference"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/propagation"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/pretrained"
	"tagnet/model/weights/parameters"
)

// scorer returns a scorer with parameters p over g, whose relation graph is between.
func scorer(t testing.TB, p *parameters.Set[float32], g *graph.Graph, between *relations.Graph, k kernel.Kernel) *inference.Scorer {
	t.Helper()
	s, err := inference.New(g, between, pretrained.ULTRAConfiguration(), p, k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// scoresOf returns the scores of all entities.
func scoresOf(t testing.TB, w *inference.Worker, g *graph.Graph, source, relation int32) []float32 {
	t.Helper()
	scores := make([]float32, g.Entities)
	if err := w.Scores(t.Context(), source, relation, scores); err != nil {
		t.Fatal(err)
	}
	return scores
}

// base is what queries of a base relation share: the states of all relations, [2R, 64], and the tables of messages by
// layer, in the order of the weights.
type base struct {
	states []float32
	tables [][]float32
}

func baseOf(t testing.TB, p *parameters.Set[float32], g *graph.Graph, between *relations.Graph, k kernel.Kernel, relation int32) (b base) {
	t.Helper()
	c := pretrained.ULTRAConfiguration()
	w := propagation.NewWeights(g, between, c, false)
	if err := w.Load(k, p); err != nil {
		t.Fatal(err)
	}
	b.states = w.Relations.(interface{ States(base int32) []float32 }).States(relation)
	for _, crossed := range w.Relations.Tables(relation, new(relations.Buffers)) {
		table := make([]float32, len(crossed))
		for r := range int32(g.RelationCount()) {
			copy(table[int(r)*c.Dim:], crossed[int(g.Inverse(r))*c.Dim:][:c.Dim])
		}
		b.tables = append(b.tables, table)
	}
	return b
}
