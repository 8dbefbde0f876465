package preprocess

import (
	"testing"

	"tagnet/formats/input/triples"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/encode"
)

func TestGraph(t *testing.T) {
	command.InitBeam()
	p := encode.WriteParams{Folder: "mem://graph", Chunks: []triples.Chunk{{URL: "train.txt", Graph: triples.Training, Split: "train"}}, EdgeShards: 1}
	pipelinetest.Golden(t, "graph", pipelinetest.Graph(t, Build(p)))
}
