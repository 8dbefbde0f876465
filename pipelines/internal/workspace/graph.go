package workspace

import (
	"context"

	"tagnet/model/kg"
	"tagnet/stages/graph"
)

// OpenGraph verifies and loads the workspace's graph, and returns it with the Inputs of folders that
// are made from it. If it is missing or damaged, the error names the command that makes it.
func (w Workspace) OpenGraph(ctx context.Context) (*kg.KG, map[string]string, error) {
	if _, err := w.Require(ctx, GraphFolder, w.Command("preprocess")); err != nil {
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
