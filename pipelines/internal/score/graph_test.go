package score

import (
	"testing"

	"tagnet/model/answer/workload"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/evaluate"
	"tagnet/stages/score"
)

func TestGraph(t *testing.T) {
	command.InitBeam()
	for name, queries := range map[string]workload.Params{
		"graph": {}, "queries": {Queries: "mem://queries.arrow"}, "triples": {Queries: "mem://queries.arrow", Given: workload.GivenTriples},
	} {
		queries.Graph, queries.Split = "mem://graph", "test"
		p := Build(evaluate.Params{
			Queries: queries,
			Model:   score.Params{Graph: "mem://graph", Split: "test", Checkpoint: "epoch-001"},
			Folder:  "mem://evaluation",
		})
		pipelinetest.Golden(t, name, pipelinetest.Graph(t, p))
	}
}
