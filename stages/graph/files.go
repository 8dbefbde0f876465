package graph

import (
	"tagnet/formats/triples"
	"tagnet/model/kg"
)

// destination names the tables that the facts of a text belong to.
type destination struct {
	edges   func(shard, shards int) string // name of a shard's file; nil without edges
	queries string                         // empty without queries
	answers []string
}

// destinationOf returns the tables of a graph's split. In the inductive setting the test queries are
// those of the inference graph, whose own train facts are only edges. Background facts are edges and known
// answers.
func destinationOf(graph, split string, inductive bool) destination {
	var d destination
	switch {
	case graph == triples.Inference:
		d.answers = []string{kg.InferenceAnswersFile}
		if split == "train" || split == triples.Background {
			d.edges = kg.InferenceEdgesFile
		}
		if split == "test" {
			d.queries = kg.QueriesFile("test")
		}
		return d
	case split == "train" || split == triples.Background:
		d.edges = kg.EdgesFile
		d.answers = []string{kg.AnswersFile, kg.TrainAnswersFile}
	default:
		d.answers = []string{kg.AnswersFile}
	}
	if split != triples.Background && (split != "test" || !inductive) {
		d.queries = kg.QueriesFile(split)
	}
	return d
}

// tableFiles lists all tables of Write, so that those without rows are written, too.
func tableFiles(inductive bool, shards int) []string {
	list := []string{kg.AnswersFile, kg.TrainAnswersFile, kg.RejectsFile}
	for _, split := range kg.Splits {
		list = append(list, kg.QueriesFile(split))
	}
	for shard := range shards {
		list = append(list, kg.EdgesFile(shard, shards))
	}
	if inductive {
		list = append(list, kg.InferenceAnswersFile)
		for shard := range shards {
			list = append(list, kg.InferenceEdgesFile(shard, shards))
		}
	}
	return list
}
