package train

import (
	"testing"

	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/learn"
)

func TestGraph(t *testing.T) {
	command.InitBeam()
	pipelinetest.Golden(t, "train", pipelinetest.Graph(t, Build(learn.Params{})))
}
