package relationgraph

import (
	"testing"

	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/relationgraph"
)

func TestGraphs(t *testing.T) {
	command.InitBeam()
	shards, p := []relationgraph.Shard{{URL: "mem://edges"}}, relationgraph.Params{BaseRelations: 2, Folder: "mem://relationgraph"}
	for name, byPairs := range map[string]bool{"meetings": false, "pairs": true} {
		pipelinetest.Golden(t, name, pipelinetest.Graph(t, Build(shards, p, byPairs)))
	}
}
