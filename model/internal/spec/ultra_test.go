package spec

import (
	"fmt"
	"slices"
	"testing"

	"tagnet/model/graph"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/pretrained"

	"github.com/google/go-cmp/cmp"
)

// TestULTRAGoldenCases compares all that golden cases of ULTRA have: the edges between relations, states of relations
// and of entities after each layer, the tables of messages, scores and ranks.
func TestULTRAGoldenCases(t *testing.T) {
	t.Parallel()
	for name, c := range golden.ULTRACases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := c.Graph(t)
			for k, edges := range RelationGraph(g) {
				if diff := cmp.Diff(c.RelationGraph[golden.ULTRATypes[k]], edges); diff != "" {
					t.Errorf("edges of type %s (-want +got):\n%s", golden.ULTRATypes[k], diff)
				}
			}
			m := newModel(t, g, pretrained.ULTRAConfiguration(), golden.Widened(golden.Published(t, c.Weights)))
			check := func(what string, got, want []float64) {
				t.Helper()
				if err := golden.Compare(what, got, want, golden.Tolerance64); err != nil {
					t.Error(err)
				}
			}
			for base, want := range c.BaseRelations {
				p := m.Forward(Query{Query: graph.Query{Relation: base}})
				check(fmt.Sprintf("final of %d", base), p.RelationStates(), want.Final.Data)
				for l, states := range want.Layers {
					check(fmt.Sprintf("layer %d of %d", l, base), p.between[l], states.Data)
				}
				for l, table := range want.Tables {
					got := p.project(l)
					for r := range int32(g.RelationCount()) { // along an edge goes the row of its inverse
						what := fmt.Sprintf("row %d of table %d of %d", r, l, base)
						check(what, row(got, int(g.Inverse(r)), pretrained.ULTRADim), row(table.Data, int(r), pretrained.ULTRADim))
					}
				}
			}
			for i, q := range c.Queries {
				p := m.Forward(Query{Query: q.Query})
				for l, states := range q.Layers {
					check(fmt.Sprintf("query %d, layer %d", i, l), p.Hiddens[l], states.Data)
				}
				check(fmt.Sprintf("scores of query %d", i), p.Scores, q.Scores.Data)
				if least, most := ranks(p.Scores, q.Answer, c.Known(q)); least != q.RankLeast || most != q.RankMost {
					t.Errorf("query %d: ranks %d to %d, want %d to %d", i, least, most, q.RankLeast, q.RankMost)
				}
			}
		})
	}
}

// ranks returns the filtered ranks of an answer with ties counted for and against it.
func ranks(scores []float64, answer int32, known []int32) (least, most int64) {
	least, most = 1, 1
	for o, score := range scores {
		if int32(o) == answer || slices.Contains(known, int32(o)) {
			continue
		}
		if score > scores[answer]+1e-6 {
			least++
		}
		if score >= scores[answer]-1e-6 {
			most++
		}
	}
	return least, most
}
