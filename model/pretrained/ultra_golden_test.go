package pretrained_test

import (
	"fmt"
	"testing"

	"tagnet/model/answer/ranking"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/relations"
	"tagnet/model/internal/spec/golden"

	"github.com/google/go-cmp/cmp"
)

// eachVariant runs a test for every kernel variant that this machine supports.
func eachVariant(t *testing.T, test func(t *testing.T, k kernel.Kernel)) {
	for _, k := range kernel.Available() {
		t.Run(k.Name(), func(t *testing.T) {
			t.Parallel()
			test(t, k)
		})
	}
}

// TestGoldenFloat32 compares the relation graph, the relations' states and tables, and scores and
// ranks of golden cases.
func TestGoldenFloat32(t *testing.T) {
	t.Parallel()
	for name, c := range golden.ULTRACases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, g := golden.Published(t, c.Weights), c.Graph(t)
			between := relations.GraphOf(g)
			edges := map[string][][2]int32{}
			for _, e := range summed(between) {
				of := golden.ULTRATypes[e.kind]
				edges[of] = append(edges[of], [2]int32{e.receiver, e.sender})
			}
			if diff := cmp.Diff(c.RelationGraph, edges); diff != "" {
				t.Errorf("relation graph (-want +got):\n%s", diff)
			}
			eachVariant(t, func(t *testing.T, k kernel.Kernel) {
				w := scorer(t, p, g, between, k).Worker()
				for relation, want := range c.BaseRelations {
					b := baseOf(t, p, g, between, k, relation)
					check(t, fmt.Sprintf("final of %d", relation), b.states, want.Final.Data)
					for layer, want := range want.Tables {
						check(t, fmt.Sprintf("table %d of %d", layer, relation), b.tables[layer-1], want.Data)
					}
					for i, q := range c.Queries {
						if q.Base != relation {
							continue
						}
						scores := scoresOf(t, w, g, q.Source, q.Relation)
						check(t, fmt.Sprintf("scores of query %d", i), scores, q.Scores.Data)
						if rank := ranking.Filtered(scores, q.Answer, c.Known(q)); rank.Pessimistic < q.RankLeast || rank.Pessimistic > q.RankMost {
							t.Errorf("query %d: rank %d, want %d to %d", i, rank.Pessimistic, q.RankLeast, q.RankMost)
						}
					}
				}
			})
		})
	}
}

func check(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	if err := golden.Compare(what, got, want, golden.Tolerance32); err != nil {
		t.Error(err)
	}
}
