package score

import (
	"testing"

	"tagnet/model/workload"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/evaluate"
	"tagnet/stages/score"
)

func TestGraph(t *testing.T) {
	command.InitBeam()
	p := Build(evaluate.Params{
		Queries: workload.Params{Graph: "mem://graph", Split: "test"},
		Model:   score.Params{Graph: "mem://graph", Split: "test", Checkpoint: "epoch-001"},
		Folder:  "mem://evaluation",
	})
	pipelinetest.Golden(t, "graph", pipelinetest.Graph(t, p))
}
