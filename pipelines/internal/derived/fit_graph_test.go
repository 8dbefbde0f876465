package derived_test

import (
	"testing"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/derived"
	"tagnet/pipelines/internal/pipelinetest"
	stage "tagnet/stages/answer"
)

func TestGraph(t *testing.T) {
	command.InitBeam()
	pipelinetest.Golden(t, "fit", pipelinetest.Graph(t, derived.BuildFit(stage.FitParams{})))
}
