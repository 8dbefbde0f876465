package kg

import "tagnet/formats/triples"

// Destination names the tables that the facts of a text belong to.
type Destination struct {
	Edges   func(shard, shards int) string // name of a shard's file; nil without edges
	Queries string                         // empty without queries
	Answers []string
}

// DestinationOf returns the tables of a graph's split. In the inductive setting the test queries are
// those of the inference graph, whose own train facts are only edges. Background facts are edges and known
// answers.
func DestinationOf(graph, split string, inductive bool) Destination {
	var d Destination
	switch {
	case graph == triples.Inference:
		d.Answers = []string{InferenceAnswersFile}
		if split == "train" || split == triples.Background {
			d.Edges = InferenceEdgesFile
		}
		if split == "test" {
			d.Queries = QueriesFile("test")
		}
		return d
	case split == "train" || split == triples.Background:
		d.Edges = EdgesFile
		d.Answers = []string{AnswersFile, TrainAnswersFile}
	default:
		d.Answers = []string{AnswersFile}
	}
	if split != triples.Background && (split != "test" || !inductive) {
		d.Queries = QueriesFile(split)
	}
	return d
}

// TableFiles lists the tables that facts are written to: all of a graph/ folder but those of names and types.
func TableFiles(inductive bool, shards int) []string {
	list := []string{AnswersFile, TrainAnswersFile, RejectsFile}
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
