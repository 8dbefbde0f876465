package analyze

import (
	"testing"

	"tagnet/formats/analysis"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/statistics"
)

func TestGraph(t *testing.T) {
	command.InitBeam()
	p := Build([]statistics.EdgeShard{{URL: "mem://edges", Graph: analysis.Training}}, statistics.Params{Folder: "mem://analysis"})
	pipelinetest.Golden(t, "graph", pipelinetest.Graph(t, p))
}
