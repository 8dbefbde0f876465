package preprocess

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/externalsort"
	"tagnet/formats/storage"
	"tagnet/model/budget"
	"tagnet/stages/graph"
	"tagnet/stages/triples"
	"tagnet/stages/vocabulary"
)

// BuildParams is what the Beam pipeline needs to know; no flag is read on a worker.
type BuildParams struct {
	// Files are the texts, whole or in parts.
	Files []triples.File
	// Strict makes the first bad line an error, be it no fact or one whose relation is in no
	// training fact; otherwise bad lines are rejected.
	Strict bool
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
	// Memory is the MiB that a worker process may take; 0 is budget.Default.
	Memory int64
	// BufferBytes bounds the bytes of what a thread sorts; 0 is all that Memory leaves.
	BufferBytes int64
}

// spillFolder takes what is sorted, below the folder that takes the tables: what a killed run
// leaves of it goes with the rest.
const spillFolder = "unsorted"

// Build makes the Beam pipeline: texts to a vocabulary, both to tables. Where it fails, externalsort.Halt
// ends what is still at work in this process, until another one is built.
func Build(p BuildParams) *beam.Pipeline {
	externalsort.Begin()
	if p.Memory == 0 {
		p.Memory = budget.Default
	}
	spill := storage.Join(p.Folder, spillFolder)
	pipeline, s := beam.NewPipelineWithRoot()
	written, rejects := vocabulary.Build(s, beam.CreateList(s, p.Files), vocabulary.BuildParams{
		Folder: p.Folder, Spill: spill, Strict: p.Strict, Memory: p.Memory * budget.MiB, BufferBytes: p.BufferBytes,
	})
	graph.Write(s, rejects, written, graph.WriteParams{
		Folder: p.Folder, Spill: spill, Parts: p.Files, Strict: p.Strict, Inductive: p.Inductive,
		Dataset: p.Dataset, InferenceDataset: p.InferenceDataset, EdgeShards: p.EdgeShards, Memory: p.Memory * budget.MiB, BufferBytes: p.BufferBytes,
	})
	return pipeline
}
