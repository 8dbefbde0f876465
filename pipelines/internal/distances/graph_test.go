package distances

import (
	"testing"

	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/distances"
)

func TestGraph(t *testing.T) {
	command.InitBeam()
	p, err := Build([]int32{0, 1, 2}, 3, distances.SearchParams{Folder: "mem://distances", Split: "test", Hops: 2})
	if err != nil {
		t.Fatal(err)
	}
	pipelinetest.Golden(t, "graph", pipelinetest.Graph(t, p))
}

func TestNothingToSearch(t *testing.T) {
	if _, err := Build(nil, 5, distances.SearchParams{}); err == nil {
		t.Error("nothing is searched")
	}
}
