package distances

import (
	"testing"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/study"
)

func TestGraph(t *testing.T) {
	command.InitBeam()
	p := Build([]int32{0, 1, 2}, 3, study.SearchParams{Folder: "mem://distances", Split: "test", Hops: 2})
	pipelinetest.Golden(t, "graph", pipelinetest.Graph(t, p))
}
