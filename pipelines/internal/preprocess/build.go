package preprocess

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/lock"
	"tagnet/formats/storage"
	"tagnet/model/budget"
	"tagnet/stages/graph"
	"tagnet/stages/triples"
	"tagnet/stages/vocabulary"
	"tagnet/stages/worker"
)

// BuildParams are the parameters of Build.
type BuildParams struct {
	// Chunks are the chunks of all texts.
	Chunks []triples.Chunk
	// Strict makes the first bad line an error: one that is not a fact, or whose relation is in no
	// training fact. Otherwise bad lines are rejected.
	Strict bool
	// Folder is the URL of the folder that takes the tables.
	Folder string
	// Lock is that of Folder; the zero Lock is never lost.
	Lock lock.Lock
	// Inductive says that there are texts of an inference graph.
	Inductive bool
	// Dataset and InferenceDataset are names for people; they go into the summary.
	Dataset, InferenceDataset string
	// EdgeShards is how many files take a graph's edges.
	EdgeShards int
	// Memory is the memory budget of a worker process in MiB; 0 is budget.Default.
	Memory int64
	// BufferBytes limits the bytes that a thread sorts at a time; 0 is all that Memory leaves.
	BufferBytes int64
}

// spillFolder is the folder of spill files, below that of the tables, so that both are removed after a
// run that was killed.
const spillFolder = "spill"

// Build returns the Beam pipeline: it makes the vocabulary from the texts, and tables from both. If the
// pipeline fails, worker.Stop ends the steps that still run in this process, until the next Build.
func Build(p BuildParams) *beam.Pipeline {
	worker.Start()
	if p.Memory == 0 {
		p.Memory = budget.Default
	}
	spill := storage.Join(p.Folder, spillFolder)
	pipeline, s := beam.NewPipelineWithRoot()
	written, rejects := vocabulary.Build(s, beam.CreateList(s, p.Chunks), vocabulary.BuildParams{
		Folder: p.Folder, Lock: p.Lock, Spill: spill, Strict: p.Strict, Memory: p.Memory * budget.MiB, BufferBytes: p.BufferBytes,
	})
	graph.Write(s, rejects, written, graph.WriteParams{
		Folder: p.Folder, Lock: p.Lock, Spill: spill, Chunks: p.Chunks, Strict: p.Strict, Inductive: p.Inductive,
		Dataset: p.Dataset, InferenceDataset: p.InferenceDataset, EdgeShards: p.EdgeShards, Memory: p.Memory * budget.MiB, BufferBytes: p.BufferBytes,
	})
	return pipeline
}
