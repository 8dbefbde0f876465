package probabilities_test

import (
	"testing"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/probabilities"
	stage "tagnet/stages/answer"
)

func TestGraph(t *testing.T) {
	command.InitBeam()
	pipelinetest.Golden(t, "fit", pipelinetest.Graph(t, probabilities.Build(stage.FitParams{})))
}
