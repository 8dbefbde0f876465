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
	for name, given := range map[string]workload.Given{"graph": workload.GivenQueries, "triples": workload.GivenTriples} {
		p := Build(evaluate.Params{
			Queries: workload.Params{Graph: "mem://graph", Split: "test", Given: given},
			Model:   score.Params{Graph: "mem://graph", Split: "test", Checkpoint: "epoch-001"},
			Folder:  "mem://evaluation",
		})
		pipelinetest.Golden(t, name, pipelinetest.Graph(t, p))
	}
}
