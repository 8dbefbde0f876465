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
					if err := scorer.Worker().Scores(t.Context(), q.Source, q.Relation, scores); err != nil {
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

// TestGoldenScoresWithout is TestGoldenScores for the edges that a query leaves out, A*Net's selection included, by one
// worker for all queries, before and after one of the whole graph.
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
					if err := worker.ScoresWithout(t.Context(), q.Query, nil, q.Relation, scores); err != nil {
						t.Fatal(err)
					}
					if err := golden.Compare(fmt.Sprintf("query %d: score", i), scores, q.Score, golden.Tolerance32); err != nil {
						t.Error(err)
					}
					if err := worker.Scores(t.Context(), q.Source, q.Relation, whole); err != nil {
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

// TestSharingChangesNothing compares the scores of queries of one source, by one worker and by a
// worker each, bit for bit.
func TestSharingChangesNothing(t *testing.T) {
	for _, c := range golden.Cases(t) {
		for _, k := range kernel.Available() {
			scorer, err := inference.New(c.Graph, nil, c.Configuration, c.Parameters32(), k)
			if err != nil {
				t.Fatal(err)
			}
			shared, scores, want := scorer.Worker(), make([]float32, c.Graph.Entities), make([]float32, c.Graph.Entities)
			for relation := range int32(min(5, c.Graph.RelationCount())) {
				alone := scorer.Worker()
				for w, to := range map[*inference.Worker][]float32{shared: scores, alone: want} {
					if err := w.Scores(t.Context(), 1, relation, to); err != nil {
						t.Fatal(err)
					}
				}
				if got, want := shared.Sent(), alone.Sent(); got != want {
					t.Errorf("%s, %s: %d messages of relation %d, alone %d", c.Name, k.Name(), got, relation, want)
				}
				if !slices.Equal(scores, want) {
					t.Fatalf("%s, %s: relation %d has other scores after others", c.Name, k.Name(), relation)
				}
			}
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
			err = scorer.Worker().Scores(t.Context(), 2, 1, make([]float32, c.Graph.Entities))
			if !errors.Is(err, inference.ErrNotFinite) || !strings.HasPrefix(err.Error(), "scoring (2, 1, ?): ") {
				t.Errorf("%s, %v: %v", c.Name, bad, err)
			}
		}
	}
}

// TestOtherQueriesAreRefused checks the errors of queries that do not fit the graph.
func TestOtherQueriesAreRefused(t *testing.T) {
	for _, c := range golden.Cases(t) {
		scorer, err := inference.New(c.Graph, nil, c.Configuration, c.Parameters32(), kernel.Available()[0])
		if err != nil {
			t.Fatal(err)
		}
		entities, relations := c.Graph.Entities, c.Graph.RelationCount()
		for what, q := range map[string][3]int{
			"no relation": {0, -1, entities}, "a relation beyond": {0, relations, entities}, "no entity": {-1, 0, entities},
			"an entity beyond": {entities, 0, entities}, "too few scores": {0, 0, entities - 1},
		} {
			if err := scorer.Worker().Scores(t.Context(), int32(q[0]), int32(q[1]), make([]float32, q[2])); err == nil {
				t.Errorf("%s, %s: no error", c.Name, what)
			}
		}
	}
}
