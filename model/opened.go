package model

import (
	"context"

	"tagnet/model/checkpoint"
	"tagnet/model/kg"
	"tagnet/model/pretrained"
)

// OpenGraph is Open for a graph that is loaded and the folder of its checkpoints.
func OpenGraph(ctx context.Context, graph *kg.KG, checkpoints checkpoint.Folder, list ...Option) (*Model, error) {
	o, err := newOptions(list)
	if err != nil {
		return nil, err
	}
	m, err := open(ctx, graph, checkpoints, o)
	if err != nil {
		return nil, classify(err)
	}
	return m, nil
}

// OpenWeights is OpenGraph for weights over the graph that no folder holds.
func OpenWeights(ctx context.Context, graph *kg.KG, made *pretrained.Checkpoint, list ...Option) (*Model, error) {
	o, err := newOptions(list)
	if err != nil {
		return nil, err
	}
	return loadWeights(ctx, graph, made, o)
}

// Check returns an *UnknownNameError if the graph lacks the source or the relation of a query. The search for the closest
// names ends with ctx.
func (m *Model) Check(ctx context.Context, q Query) error {
	_, err := m.ids(ctx, q)
	return err
}
