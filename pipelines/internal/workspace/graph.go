package workspace

import (
	"context"

	"tagnet/model/kg"
	"tagnet/stages/graph"
)

// OpenGraph loads the workspace's graph, once it is whole, and returns it with the hash that
// what is made from it records. Where it is missing or damaged the error names the command
// that makes it.
func (w Workspace) OpenGraph(ctx context.Context) (*kg.KG, map[string]string, error) {
	if _, err := w.Require(ctx, GraphFolder, "go run ./pipelines/preprocess"); err != nil {
		return nil, nil, err
	}
	inputs, err := w.Inputs(ctx, GraphFolder)
	if err != nil {
		return nil, nil, err
	}
	loaded, err := graph.Load(w.Graph())
	if err != nil {
		return nil, nil, err
	}
	return loaded, inputs, nil
}
