package kg

import (
	"slices"

	"tagnet/formats/input/triples"
)

// Destination names the tables that the facts of a text belong to.
type Destination struct {
	Edges   func(shard, shards int) string // name of a shard's file; nil without edges
	Queries string                         // empty without queries
	Answers string                         // known answers, of all splits
}

// DestinationOf returns the tables of a graph's split. inference are the splits whose queries are about the inference
// graph: in the inductive setting test, and valid if it is to be. The train facts of that graph are only edges.
// Background facts are edges and known answers.
func DestinationOf(graph, split string, inference []string) Destination {
	var d Destination
	switch {
	case graph == triples.Inference:
		d.Answers = InferenceAnswersFile
		if split == "train" || split == triples.Background {
			d.Edges = InferenceEdgesFile
		}
		if slices.Contains(inference, split) {
			d.Queries = QueriesFile(split)
		}
		return d
	case split == "train" || split == triples.Background:
		d.Edges = EdgesFile
	}
	d.Answers = AnswersFile
	if split != triples.Background && !slices.Contains(inference, split) {
		d.Queries = QueriesFile(split)
	}
	return d
}

// TableFiles lists the tables that facts are written to: all of a graph/ folder but names and types.
func TableFiles(inductive bool, shards int) []string {
	list := []string{AnswersFile, RejectsFile}
	for _, split := range Splits {
		list = append(list, QueriesFile(split))
	}
	for shard := range shards {
		list = append(list, EdgesFile(shard, shards))
	}
	if inductive {
		list = append(list, InferenceAnswersFile)
		for shard := range shards {
			list = append(list, InferenceEdgesFile(shard, shards))
		}
	}
	return list
}
