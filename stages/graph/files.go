package graph

import (
	"fmt"
	"slices"
	"strings"

	"tagnet/formats/manifest"
	"tagnet/stages/triples"
	"tagnet/stages/vocabulary"
)

// The files of the graph/ folder, beside manifest.json. Edges lie in shards by the entity they
// lead to: EdgesFile and InferenceEdgesFile.
const (
	EntitiesFile          = vocabulary.EntitiesFile
	RelationsFile         = vocabulary.RelationsFile // base relations; the reciprocal of r is r+R
	InferenceEntitiesFile = vocabulary.InferenceEntitiesFile
	AnswersFile           = "answers.arrow"           // known answers from train, valid and test
	TrainAnswersFile      = "answers-train.arrow"     // known answers from train alone
	InferenceAnswersFile  = "inference-answers.arrow" // known answers of the inference graph's facts
	RejectsFile           = "rejects.tsv"
	SummaryFile           = "summary.json"

	edgesPrefix          = "edges-"
	inferenceEdgesPrefix = "inference-edges-"
	queriesPrefix        = "queries-"
)

// Splits are the splits that have a table of queries.
var Splits = []string{"train", "valid", "test"}

// QueriesFile is the table of a split's queries.
func QueriesFile(split string) string { return queriesPrefix + split + ".arrow" }

// EdgesFile is a shard of the training graph's edges.
func EdgesFile(shard, shards int) string { return shardFile(edgesPrefix, shard, shards) }

// InferenceEdgesFile is a shard of the inference graph's edges.
func InferenceEdgesFile(shard, shards int) string {
	return shardFile(inferenceEdgesPrefix, shard, shards)
}

func shardFile(prefix string, shard, shards int) string {
	return fmt.Sprintf("%s%05d-of-%05d.arrow", prefix, shard, shards)
}

// isEdges tells whether a file is a shard of edges, of either graph.
func isEdges(file string) bool {
	return strings.HasPrefix(file, edgesPrefix) || strings.HasPrefix(file, inferenceEdgesPrefix)
}

// isQueries tells whether a file is a table of queries.
func isQueries(file string) bool { return strings.HasPrefix(file, queriesPrefix) }

// place is where the facts of a text file go. Empty names are tables they are not in.
type place struct {
	edges, queries string
	answers        []string
}

// placeOf tells where the facts of a graph's split go. In the inductive setting the test
// queries are those of the inference graph; its own train facts are only edges there.
func placeOf(graph, split string, inductive bool) place {
	var p place
	switch {
	case graph == triples.Inference:
		p.answers = []string{InferenceAnswersFile}
		if split == "train" {
			p.edges = inferenceEdgesPrefix
		}
		if split == "test" {
			p.queries = QueriesFile("test")
		}
		return p
	case split == "train":
		p.edges = edgesPrefix
		p.answers = []string{AnswersFile, TrainAnswersFile}
	default:
		p.answers = []string{AnswersFile}
	}
	if split != "test" || !inductive {
		p.queries = QueriesFile(split)
	}
	return p
}

// files lists all tables that Write makes, so that those without a row are written too.
func files(inductive bool, shards int) []string {
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

// EdgeFiles are the shards of the edges of the graph that a split asks, in order.
func EdgeFiles(m manifest.Manifest, split string) []manifest.File {
	prefix := edgesPrefix
	if split == "test" && isInductive(m) {
		prefix = inferenceEdgesPrefix
	}
	var shards []manifest.File
	for _, f := range m.Files { // sorted by name
		if strings.HasPrefix(f.Name, prefix) {
			shards = append(shards, f)
		}
	}
	return shards
}

// isInductive tells whether a graph/ folder has an inference graph.
func isInductive(m manifest.Manifest) bool {
	return slices.ContainsFunc(m.Files, func(f manifest.File) bool { return f.Name == InferenceEntitiesFile })
}

// EntitiesOf is the number of entities of the graph that a split asks.
func EntitiesOf(m manifest.Manifest, split string) int {
	if split == "test" && isInductive(m) {
		return int(m.Rows["inference_entities"])
	}
	return int(m.Rows["entities"])
}
