package inference_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tagnet/model/engine/inference"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/internal/spec/golden"
)

// TestGoldenScores compares the scores of all entities with the golden ones, on graphs without the edges that the
// training query removes, since scoring removes none. A*Net's number of edges depends on that of the whole graph,
// so package propagation compares its scores.
func TestGoldenScores(t *testing.T) {
	for _, c := range golden.Cases(t) {
		if c.Configuration.Prioritized() {
			continue
		}
		for _, k := range kernel.Available() {
			t.Run(c.Name+"/"+k.Name(), func(t *testing.T) {
				for i, q := range c.Queries {
					g := without(t, c.Graph, q.Query)
					scorer, err := inference.New(g, nil, c.Configuration, c.Parameters32(), k)
					if err != nil {
						t.Fatal(err)
					}
					scores := make([]float32, g.Entities)
					if err := scorer.Worker().Scores(t.Context(), q.Source, []int32{q.Relation}, [][]float32{scores}); err != nil {
						t.Fatal(err)
					}
					if err := golden.Compare(fmt.Sprintf("query %d: score", i), scores, q.Score, golden.Tolerance32); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
}

// TestGoldenScoresWithout is TestGoldenScores for the edges that a query leaves out, A*Net's selection included, by one worker for all
// queries, before and after one of the whole graph.
func TestGoldenScoresWithout(t *testing.T) {
	removed := 0
	for _, c := range golden.Cases(t) {
		for _, k := range kernel.Available() {
			t.Run(c.Name+"/"+k.Name(), func(t *testing.T) {
				scorer, err := inference.New(c.Graph, nil, c.Configuration, c.Parameters32(), k)
				if err != nil {
					t.Fatal(err)
				}
				worker, whole := scorer.Worker(), make([]float32, c.Graph.Entities)
				for i, q := range c.Queries {
					scores := make([]float32, c.Graph.Entities)
					if err := worker.ScoresWithout(t.Context(), q.Query, nil, []int32{q.Relation}, [][]float32{scores}); err != nil {
						t.Fatal(err)
					}
					if err := golden.Compare(fmt.Sprintf("query %d: score", i), scores, q.Score, golden.Tolerance32); err != nil {
						t.Error(err)
					}
					if err := worker.Scores(t.Context(), q.Source, []int32{q.Relation}, [][]float32{whole}); err != nil {
						t.Fatal(err)
					}
					if q.Removal != graph.RemoveNothing && !slices.Equal(scores, whole) {
						removed++
					}
				}
			})
		}
	}
	if removed == 0 {
		t.Error("no removal changes a score: the comparison says little")
	}
}

// without returns the graph without the edges that leave that of a query, but with the constants of the whole graph.
func without(t *testing.T, g *graph.Graph, q graph.Query) *graph.Graph {
	t.Helper()
	reduced := *g
	reduced.Offsets = make([]int64, g.Entities+1)
	reduced.Senders, reduced.Relations = nil, nil
	for o := range int32(g.Entities) {
		senders, relations := g.In(o)
		for i, u := range senders {
			if !g.Removes(q, u, relations[i], o) {
				reduced.Senders = append(reduced.Senders, u)
				reduced.Relations = append(reduced.Relations, relations[i])
			}
		}
		reduced.Offsets[o+1] = int64(len(reduced.Senders))
	}
	return &reduced
}

// TestBatchingChangesNothing compares the scores of queries of one source, in one call and in a call each, bit for
// bit.
func TestBatchingChangesNothing(t *testing.T) {
	for _, c := range golden.Cases(t) {
		if c.Configuration.Prioritized() {
			continue
		}
		for _, k := range kernel.Available() {
			t.Run(c.Name+"/"+k.Name(), func(t *testing.T) {
				scorer, err := inference.New(c.Graph, nil, c.Configuration, c.Parameters32(), k)
				if err != nil {
					t.Fatal(err)
				}
				source, batched, alone := int32(1), scorer.Worker(), scorer.Worker()
				var relations []int32
				var scores [][]float32
				for relation := range int32(min(5, c.Graph.RelationCount())) {
					relations, scores = append(relations, relation), append(scores, make([]float32, c.Graph.Entities))
				}
				if err := batched.Scores(t.Context(), source, relations, scores); err != nil {
					t.Fatal(err)
				}
				one := make([]float32, c.Graph.Entities)
				for i, relation := range relations {
					if err := alone.Scores(t.Context(), source, []int32{relation}, [][]float32{one}); err != nil {
						t.Fatal(err)
					}
					if got, want := batched.Sent(i), alone.Sent(0); got != want {
						t.Errorf("relation %d: %d messages, alone %d", relation, got, want)
					}
					if !slices.Equal(one, scores[i]) {
						t.Fatalf("relation %d has other scores in a batch", relation)
					}
				}
			})
		}
	}
}

// TestScoresThatAreNotFinite checks that one such score is an error that names its query.
func TestScoresThatAreNotFinite(t *testing.T) {
	for _, c := range golden.Cases(t) {
		last := "mlp.2.bias" // of the score, also with A*Net
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			p := c.Parameters32()
			p.Data(last)[0] = float32(bad)
			scorer, err := inference.New(c.Graph, nil, c.Configuration, p, kernel.Available()[0])
			if err != nil {
				t.Fatal(err)
			}
			err = scorer.Worker().Scores(t.Context(), 2, []int32{1}, [][]float32{make([]float32, c.Graph.Entities)})
			if !errors.Is(err, inference.ErrNotFinite) || !strings.HasPrefix(err.Error(), "scoring (2, 1, ?): ") {
				t.Errorf("%s, %v: %v", c.Name, bad, err)
			}
		}
	}
}
