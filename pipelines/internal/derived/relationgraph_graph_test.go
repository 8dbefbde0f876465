package derived

import (
	"testing"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/relations"
)

func TestGraphs(t *testing.T) {
	command.InitBeam()
	shards, p := []relations.Shard{{URL: "mem://edges"}}, relations.Params{BaseRelations: 2, Folder: "mem://relationgraph"}
	pipelinetest.Golden(t, "relationgraph", pipelinetest.Graph(t, BuildRelationGraph(shards, p)))
}
