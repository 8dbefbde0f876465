package train

import (
	"testing"

	"tagnet/model/learn"
	"tagnet/model/learn/optimizer"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/train"
)

func TestGraph(t *testing.T) {
	command.InitBeam()
	pipelinetest.Golden(t, "train", pipelinetest.Graph(t, Build(train.Params{})))
	run := learn.Run{Configuration: configuration.Default(), Rounds: configuration.Rounds{Workers: 2, LocalSteps: 1}}
	facts := optimizer.Keys{Facts: 3 * run.Configuration.BatchSize}
	tasks := learn.Tasks(run, facts, learn.Position{Epoch: 1}, 4) // two rounds, the end of the epoch, a round
	pipelinetest.Golden(t, "rounds", pipelinetest.Graph(t, BuildRounds(train.Params{Run: run}, tasks)))
}
