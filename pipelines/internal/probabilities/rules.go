package probabilities

import (
	"context"
	"fmt"

	"tagnet/model/answer"
	"tagnet/model/answer/rules"
	"tagnet/model/budget"
	"tagnet/model/graph"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/stages/predict"
)

// Rules returns the rules of a graph, and where workers read them. Those that the workspace does not keep are
// mined behind a bar, and kept in its folder of probabilities, or where that cannot be written in a folder of the
// same name below others.
func Rules(ctx context.Context, e *command.Environment, g *graph.Graph, threads int, others ...string) (*rules.Rules, predict.Rules, error) {
	var bar *progress.Bar
	mined, url, unwritten, err := answer.Rules(ctx, g, threads, func(done, total int) {
		if bar == nil {
			bar = e.Progress.Begin("finding rules", int64(total), "steps")
		}
		bar.Set(int64(done))
	}, append([]string{e.Workspace.Root()}, others...)...)
	if bar != nil {
		bar.End()
	}
	if err != nil {
		return nil, predict.Rules{}, err
	}
	if unwritten != nil {
		if ctx.Err() != nil || url == "" && len(others) > 0 {
			return nil, predict.Rules{}, fmt.Errorf("keeping the rules of the graph: %w", unwritten)
		}
		e.Say("rules are found for this run alone: %v", unwritten)
	}
	return mined, predict.Rules{URL: url, Checksum: mined.Checksum}, nil
}

// EstimateRules estimates the memory of finding the rules of a graph of sizes s, of which mining bounds the buffers.
func EstimateRules(s budget.Sizes) budget.Estimate {
	const mostBuffers, perEdge = 192 * budget.MiB, 20
	buffers := min(mostBuffers, s.Relations*(s.Entities/8+6*s.Relations))
	return budget.Estimate{Task: "finding the rules of this graph", Held: s.Graph + perEdge*s.Edges + buffers}
}
