package train

import (
	"testing"

	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/bundle"
	"tagnet/stages/learn"
)

func TestGraphs(t *testing.T) {
	command.InitBeam()
	pipelinetest.Golden(t, "bundles", pipelinetest.Graph(t, BuildBundles("mem://bundles", bundle.Params{Graph: "mem://graph", Split: "train", Hops: 3, Bundles: 2})))
	pipelinetest.Golden(t, "train", pipelinetest.Graph(t, Build(learn.Bundles{}, learn.Params{})))
}
