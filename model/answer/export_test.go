package answer

import (
	"context"

	"tagnet/model/answer/probability"
	"tagnet/model/graph"
)

// Candidates returns NewCandidates and those that are judged.
func (m *Model) Candidates(ctx context.Context, queries []graph.Query, k int) ([][]probability.Observation, error) {
	observed, _, err := m.candidates(ctx, queries, k, nil, keepAll, nil)
	return observed, err
}
