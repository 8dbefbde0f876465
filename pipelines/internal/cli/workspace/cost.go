package workspace

import (
	"context"

	"tagnet/formats/workspace/counts"
	"tagnet/model/budget"
	"tagnet/model/weights/configuration"
)

// ScoreSeconds returns about how many seconds of a core it takes to score queries of a split, by the formula and the
// measurements in infra/dataflow/README.md. bound reports that the messages that the model keeps are not known, because
// the pipeline messages did not count them: then it is a bound.
func (w Workspace) ScoreSeconds(ctx context.Context, s budget.Sizes, c configuration.Configuration, split string, queries int64) (seconds float64, bound bool) {
	const (
		perEdge, perMessage, perUpdate = 4e-9, 5e-9, 130e-9
		measuredDim                    = 32
	)
	covered := c.Covers(int(s.Entities))
	edges, entities := covered*float64(max(1, s.Edges)), covered*float64(s.Entities)
	kept, bound := float64(c.Layers)*edges, c.Policy != configuration.PolicyFull
	if c.Policy == configuration.PolicyWindow && covered == 1 && w.Complete(ctx, w.MessagesFolder(split)) {
		if counted, err := counts.ReadSummary(ctx, w.Messages(split)); err == nil {
			for _, measured := range counted.Configurations {
				if measured.Layers == c.Layers && measured.Delta == c.Delta {
					kept, bound = measured.KeptPerQuery, false
				}
			}
		}
	}
	perKept := (perMessage + perUpdate*entities/edges) * float64(c.Dim) / measuredDim
	return float64(queries) * (perEdge*edges + kept*perKept), bound
}
