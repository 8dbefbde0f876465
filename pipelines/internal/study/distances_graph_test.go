package study

import (
	"testing"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/study"
)

func TestDistancesGraph(t *testing.T) {
	command.InitBeam()
	p := BuildDistances([]int32{0, 1, 2}, 3, study.SearchParams{Folder: "mem://distances", Split: "test", Hops: 2})
	pipelinetest.Golden(t, "distances", pipelinetest.Graph(t, p))
}
