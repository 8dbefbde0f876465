package preprocess

import (
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/model/budget"
	"tagnet/stages/encode"
)

// spillFolder is the folder of spill files, below the folder of the tables, so that both are removed
// after a run that was killed.
const spillFolder = "spill"

// Build returns the Beam pipeline: it makes the vocabulary from the texts, and tables from both. Spill is
// chosen here, and a Memory of 0 is budget.Default.
func Build(p encode.WriteParams) *beam.Pipeline {
	if p.Memory == 0 {
		p.Memory = budget.Default * budget.MiB
	}
	p.Spill = storage.Join(p.Folder, spillFolder)
	pipeline, s := beam.NewPipelineWithRoot()
	written, rejects := encode.Vocabulary(s, beam.CreateList(s, p.Chunks), p)
	encode.Write(s, rejects, written, p)
	return pipeline
}
