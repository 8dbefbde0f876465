package ultra_test

import (
	"errors"
	"fmt"
	"testing"

	"tagnet/model/gpu"
	"tagnet/model/gpu/interpreter"
	"tagnet/model/internal/golden"
	"tagnet/model/ultra"
)

// TestGoldenOnTheInterpreter compares the scores and ranks of golden cases with those of a device, which an interpreter stands for.
func TestGoldenOnTheInterpreter(t *testing.T) {
	t.Parallel()
	for name, c := range golden.ULTRACases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := c.Graph(t)
			scorer, err := gpu.NewScorer(interpreter.New(), g, nil, ultra.Configuration(), golden.Published(t, c.Weights))
			if err != nil {
				t.Fatal(err)
			}
			var all []int32
			for v := range int32(g.Entities) {
				all = append(all, v)
			}
			var queries []gpu.Query
			for _, q := range c.Queries {
				queries = append(queries, gpu.Query{Source: q.Source, Relation: q.Relation, Answers: append([]int32{q.Answer}, all...), Known: c.Known(q)})
			}
			answered, err := scorer.Score(t.Context(), queries, 0)
			if err := errors.Join(err, scorer.Close()); err != nil {
				t.Fatal(err)
			}
			for i, q := range c.Queries {
				check(t, fmt.Sprintf("scores of query %d", i), answered[i].Scores[1:], q.Scores.Data)
				if rank := answered[i].Ranks[0]; rank.Pessimistic < q.RankLeast || rank.Pessimistic > q.RankMost {
					t.Errorf("query %d: rank %d, want %d to %d", i, rank.Pessimistic, q.RankLeast, q.RankMost)
				}
				if answered[i].Messages != ultra.Layers*g.Edges() {
					t.Errorf("query %d: %d messages, want all of each layer, %d", i, answered[i].Messages, ultra.Layers*g.Edges())
				}
			}
		})
	}
}
