package graph

import (
	"tagnet/model/kg"
	"tagnet/stages/triples"
)

// place is where the facts of a text file go. Empty names are tables they are not in.
type place struct {
	edges   func(shard, shards int) string // name of a shard's file; nil without edges
	queries string
	answers []string
}

// placeOf tells where the facts of a graph's split go. In the inductive setting the test
// queries are those of the inference graph; its own train facts are only edges there.
func placeOf(graph, split string, inductive bool) place {
	var p place
	switch {
	case graph == triples.Inference:
		p.answers = []string{kg.InferenceAnswersFile}
		if split == "train" {
			p.edges = kg.InferenceEdgesFile
		}
		if split == "test" {
			p.queries = kg.QueriesFile("test")
		}
		return p
	case split == "train":
		p.edges = kg.EdgesFile
		p.answers = []string{kg.AnswersFile, kg.TrainAnswersFile}
	default:
		p.answers = []string{kg.AnswersFile}
	}
	if split != "test" || !inductive {
		p.queries = kg.QueriesFile(split)
	}
	return p
}

// files lists all tables that Write makes, so that those without a row are written too.
func files(inductive bool, shards int) []string {
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
