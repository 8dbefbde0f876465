package preprocess

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/stages/graph"
	"tagnet/stages/triples"
	"tagnet/stages/vocabulary"
)

// BuildParams is what the Beam pipeline needs to know; no flag is read on a worker.
type BuildParams struct {
	// Files are the texts.
	Files []triples.File
	// Read says how they are read.
	Read triples.ReadParams
	// Folder is the URL of the folder that takes the tables.
	Folder string
	// Inductive says that there are files of an inference graph.
	Inductive bool
	// Dataset is a name for people.
	Dataset string
	// InferenceDataset is the same of the inference graph.
	InferenceDataset string
	// EdgeShards is how many files take a graph's edges.
	EdgeShards int
	// Shards is how many groups of batches are encoded in parallel; 0 chooses.
	Shards int
}

// Build makes the Beam pipeline: texts to facts, facts to a vocabulary, both to tables.
func Build(p BuildParams) *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	facts, rejects := triples.Read(s, beam.CreateList(s, p.Files), p.Read)
	written := vocabulary.Build(s, facts, vocabulary.BuildParams{Folder: p.Folder})
	graph.Write(s, facts, rejects, written, graph.WriteParams{
		Folder: p.Folder, Inductive: p.Inductive, Dataset: p.Dataset, InferenceDataset: p.InferenceDataset,
		EdgeShards: p.EdgeShards, Shards: p.Shards,
	})
	return pipeline
}
