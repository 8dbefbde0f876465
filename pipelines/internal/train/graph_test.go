package train

import (
	"testing"

	"tagnet/model/learn"
	"tagnet/model/learn/optimizer"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/learn"
)

func TestGraph(t *testing.T) {
	command.InitBeam()
	pipelinetest.Golden(t, "train", pipelinetest.Graph(t, Build(learn.Params{})))
	run := training.Run{Configuration: configuration.Default(), Rounds: configuration.Rounds{Workers: 2, LocalSteps: 1}}
	facts := optimizer.Keys{Facts: 3 * run.Configuration.BatchSize}
	tasks := training.Plan(run, facts, training.Position{Epoch: 1}, 4) // two rounds, the end of the epoch, a round
	pipelinetest.Golden(t, "rounds", pipelinetest.Graph(t, BuildRounds(learn.Params{Run: run}, tasks)))
}
