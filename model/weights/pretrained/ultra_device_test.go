package pretrained_test

import (
	"errors"
	"fmt"
	"testing"

	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/gpu"
	"tagnet/model/gpu/interpreter"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/weights/pretrained"
)

// TestGoldenOnTheInterpreter compares the scores and ranks of golden cases with those of a device, which an interpreter stands for.
func TestGoldenOnTheInterpreter(t *testing.T) {
	t.Parallel()
	for name, c := range golden.ULTRACases(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := c.Graph(t)
			scorer, err := gpu.NewScorer(interpreter.New(), g, nil, pretrained.ULTRAConfiguration(), golden.Published(t, c.Weights))
			if err != nil {
				t.Fatal(err)
			}
			all := make([]int32, g.Entities)
			for v := range all {
				all[v] = int32(v)
			}
			var queries []answer.Request
			for _, q := range c.Queries {
				queries = append(queries, answer.Request{
					Query: q.Query, Rows: make([]int64, 1+len(all)), Answers: append([]int32{q.Answer}, all...), Known: c.Known(q),
				})
			}
			scored, err := scorer.Score(t.Context(), queries, ranking.Selection{})
			if err := errors.Join(err, scorer.Close()); err != nil {
				t.Fatal(err)
			}
			for i, q := range c.Queries {
				var scores []float32
				for _, r := range scored.Queries[i].Results[1:] {
					scores = append(scores, r.Score)
				}
				check(t, fmt.Sprintf("scores of query %d", i), scores, q.Scores.Data)
				if rank := scored.Queries[i].Results[0].Rank; rank.Pessimistic < q.RankLeast || rank.Pessimistic > q.RankMost {
					t.Errorf("query %d: rank %d, want %d to %d", i, rank.Pessimistic, q.RankLeast, q.RankMost)
				}
			}
			if want := int64(len(queries)) * pretrained.ULTRALayers * g.Edges(); scored.Messages != want {
				t.Errorf("%d messages, want all of each layer of each query, %d", scored.Messages, want)
			}
		})
	}
}
