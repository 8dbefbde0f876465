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
	for name, byPairs := range map[string]bool{"meetings": false, "pairs": true} {
		pipelinetest.Golden(t, name, pipelinetest.Graph(t, BuildRelationGraph(shards, p, byPairs)))
	}
}
