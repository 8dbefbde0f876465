package learn

import (
	"context"
	"fmt"

	"tagnet/model/answer/workload"
	"tagnet/model/engine/relations"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
)

// TrainingGraphOf returns the training graph and facts of a knowledge graph, for a mixture. A graph without training
// facts is an error.
func TrainingGraphOf(ctx context.Context, loaded *kg.KG, c configuration.Configuration) (TrainingGraph, error) {
	data, err := NewData(ctx, loaded)
	if err != nil {
		return TrainingGraph{}, err
	}
	data.TrainingGraph.Relations = relations.Between(data.Graph, c)
	return data.TrainingGraph, nil
}

// ValidationGraphOf returns the validation queries of a knowledge graph, at most limit of them unless that is 0, for a
// mixture. A graph without any is an error.
func ValidationGraphOf(ctx context.Context, name string, loaded *kg.KG, limit int64, c configuration.Configuration) (ValidationGraph, error) {
	queries, err := workload.List(ctx, loaded, workload.Params{QueriedGraph: workload.QueriedGraph{Split: "valid"}, Limit: limit})
	if err != nil {
		return ValidationGraph{}, err
	}
	all, err := loaded.Queries(ctx, "valid")
	if err != nil {
		return ValidationGraph{}, err
	}
	if len(queries) == 0 {
		return ValidationGraph{}, fmt.Errorf("graph %s has no validation facts", name)
	}
	view := loaded.View("valid")
	return ValidationGraph{
		Name: name, Graph: view.Graph, Relations: relations.Between(view.Graph, c),
		Entities: view.Entities, BaseRelations: loaded.Relations, Queries: queries, All: int64(len(all)),
	}, nil
}

// DescribeTrainingData describes the graph of a split of a knowledge graph, and counts the facts of the training split,
// or the queries of another one.
func DescribeTrainingData(ctx context.Context, name string, loaded *kg.KG, split string) (checkpoint.Seen, error) {
	view := loaded.View(split)
	seen := checkpoint.Seen{
		Name: name, Entities: len(view.Entities), Relations: len(loaded.Relations), Facts: view.Graph.Edges() / 2, Checksum: loaded.Manifest.Checksum,
	}
	if split == "train" {
		facts, err := loaded.Facts(ctx)
		seen.Facts = int64(len(facts))
		return seen, err
	}
	queries, err := loaded.Queries(ctx, split)
	seen.Queries = int64(len(queries))
	return seen, err
}
