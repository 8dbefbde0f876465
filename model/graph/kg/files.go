package kg

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tagnet/formats/workspace/manifest"
)

// Folder is the name of the folder below a workspace.
const Folder = "graph"

// The files of a graph/ folder, beside manifest.json and the shards of edges and tables of queries named
// by EdgesFile, InferenceEdgesFile and QueriesFile.
const (
	EntitiesFile          = "entities.arrow"
	RelationsFile         = "relations.arrow"          // base relations; the inverse of r is r+R
	InferenceEntitiesFile = "inference-entities.arrow" // inductive: entities of the inference graph
	AnswersFile           = "answers.arrow"            // known answers from train, valid and test
	InferenceAnswersFile  = "inference-answers.arrow"  // known answers of the inference graph's facts
	TypesFile             = "types.arrow"              // types of entities, where the dataset gives any
	InferenceTypesFile    = "inference-types.arrow"    // the same of the inference graph
	RejectsFile           = "rejects.tsv"

	edgesPrefix          = "edges-"
	inferenceEdgesPrefix = "inference-edges-"
	queriesPrefix        = "queries-"
)

// Splits lists the splits that have a table of queries, in the order of training.
var Splits = []string{"train", "valid", "test"}

// QueriesFile returns the name of the table of a split's queries.
func QueriesFile(split string) string { return queriesPrefix + split + ".arrow" }

// EdgesFile returns the name of a shard of the training graph's edges; shards are by tail entity.
func EdgesFile(shard, shards int) string { return shardFile(edgesPrefix, shard, shards) }

// InferenceEdgesFile returns the name of a shard of the inference graph's edges.
func InferenceEdgesFile(shard, shards int) string {
	return shardFile(inferenceEdgesPrefix, shard, shards)
}

func shardFile(prefix string, shard, shards int) string {
	return fmt.Sprintf("%s%05d-of-%05d.arrow", prefix, shard, shards)
}

// IsEdges reports whether file is a shard of edges, of the training or the inference graph.
func IsEdges(file string) bool {
	return strings.HasPrefix(file, edgesPrefix) || IsInferenceEdges(file)
}

// IsInferenceEdges reports whether file is a shard of the inference graph's edges.
func IsInferenceEdges(file string) bool { return strings.HasPrefix(file, inferenceEdgesPrefix) }

// SplitOf returns the split of a table of queries by the table's file, and false for other files.
func SplitOf(file string) (split string, ok bool) {
	split, ok = strings.CutPrefix(file, queriesPrefix)
	return strings.TrimSuffix(split, ".arrow"), ok
}

// EdgeFiles returns the shards of edges of the graph that a split's queries are about, in order.
func EdgeFiles(m manifest.Manifest, split string) []manifest.File {
	prefix := edgesPrefix
	if OnInference(m, split) {
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

// AnswersFileOf returns the name of the known answers of a split's queries, or "" for training, which knows only those
// of its graph's edges.
func AnswersFileOf(m manifest.Manifest, split string) string {
	switch {
	case split == "train":
		return ""
	case OnInference(m, split):
		return InferenceAnswersFile
	}
	return AnswersFile
}

// EntitiesOf returns the number of entities of the graph that a split's queries are about.
func EntitiesOf(m manifest.Manifest, split string) int {
	if OnInference(m, split) {
		return int(m.Rows["inference_entities"])
	}
	return int(m.Rows["entities"])
}

// EdgesOf returns the number of edges of the graph that a split's queries are about.
func EdgesOf(m manifest.Manifest, split string) int64 {
	if OnInference(m, split) {
		return m.Rows["inference_edges"]
	}
	return m.Rows["edges"]
}

// TypeRelation returns the relation whose facts preprocess also took for the types of their heads, "" without one.
func TypeRelation(m manifest.Manifest) string {
	var made struct {
		Relation string `json:"type_relation"`
	}
	_ = json.Unmarshal(m.Configuration, &made) // of facts in memory there is none
	return made.Relation
}

// typesFile returns the name of the types of the graph that a split's queries are about, or "" if it has none.
func typesFile(m manifest.Manifest, split string) string {
	file := TypesFile
	if OnInference(m, split) {
		file = InferenceTypesFile
	}
	if !slices.ContainsFunc(m.Files, func(f manifest.File) bool { return f.Name == file }) {
		return ""
	}
	return file
}

// InferenceValidRows is the row count of a manifest that has the number of validation queries, if these are about
// the inference graph.
const InferenceValidRows = "inference_queries_valid"

// OnInference reports whether a split's queries are about the inference graph of a graph/ folder.
func OnInference(m manifest.Manifest, split string) bool {
	return isInductive(m) && (split == "test" || split == "valid" && m.Rows[InferenceValidRows] > 0)
}

// isInductive reports whether a graph/ folder has an inference graph.
func isInductive(m manifest.Manifest) bool {
	return slices.ContainsFunc(m.Files, func(f manifest.File) bool { return f.Name == InferenceEntitiesFile })
}
