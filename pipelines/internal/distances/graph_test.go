package distances

import (
	"testing"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/distances"
)

func TestGraph(t *testing.T) {
	command.InitBeam()
	p := Build([]int32{0, 1, 2}, 3, distances.SearchParams{Folder: "mem://distances", Split: "test", Hops: 2})
	pipelinetest.Golden(t, "graph", pipelinetest.Graph(t, p))
}
