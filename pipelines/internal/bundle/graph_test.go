package bundle

import (
	"testing"

	"tagnet/model/engine/parts"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	stage "tagnet/stages/bundle"
)

func TestGraph(t *testing.T) {
	command.InitBeam()
	p := Build([]stage.File{{}}, stage.Params{Folder: "mem://bundles", Edges: []string{"edges"},
		Header: parts.Header{Split: "test", Layers: 1, Reach: 5, Entities: 9}})
	pipelinetest.Golden(t, "graph", pipelinetest.Graph(t, p))
}
