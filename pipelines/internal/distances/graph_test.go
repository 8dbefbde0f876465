package distances

import (
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/model/joinsearch"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/distances"
)

func TestGraphs(t *testing.T) {
	command.InitBeam()
	sources := []int32{0, 1, 2}
	search := distances.SearchParams{Folder: "mem://distances", Split: "test", Hops: 2}
	join := distances.JoinParams{SearchParams: search, Layout: joinsearch.Layout{Entities: 3, Sources: 3, PerTable: 3, Ranges: 1, Words: 1, Edges: []joinsearch.EdgeShard{{URL: "mem://edges"}}}}
	worker, err := Build(sources, 3, search)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := BuildTables(sources, join)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*beam.Pipeline{"worker": worker, "join": BuildJoin([]distances.Shard{{}}, join), "tables": tables} {
		pipelinetest.Golden(t, name, pipelinetest.Graph(t, p))
	}
}
