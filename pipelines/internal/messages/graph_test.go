package messages

import (
	"testing"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/study"
)

func TestGraph(t *testing.T) {
	command.InitBeam()
	p := Build([]int32{0, 1, 2}, 3, study.CountParams{Graph: "mem://graph", Split: "test", Folder: "mem://messages"})
	pipelinetest.Golden(t, "graph", pipelinetest.Graph(t, p))
}
