package distances

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tagnet/formats/counts"
	"tagnet/formats/manifest"
	"tagnet/formats/tables"
	"tagnet/formats/triples"
	"tagnet/model/joinsearch"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/distances"
	"tagnet/stages/graph"
)

// sharded is a workspace whose graph has its edges in so many files.
func sharded(t *testing.T, shards int) (string, manifest.Manifest) {
	t.Helper()
	command.InitBeam()
	ctx := context.Background()
	w := workspace.New(t.TempDir())
	stage := workspace.Stage{Workspace: w, Name: "preprocess", Folder: workspace.GraphFolder, Command: w.Command("preprocess")}
	if _, err := stage.Begin(ctx, false); err != nil {
		t.Fatal(err)
	}
	params := graph.WriteParams{Folder: w.Graph(), EdgeShards: shards}
	texts := t.TempDir()
	for i, split := range kg.Splits {
		text := "e00\tr\te01\n"
		for h := range 150 { // long ways, and entities that no way leads to
			text += fmt.Sprintf("e%02d\tr\te%02d\n", (h*7+i)%90, (h*7+i)%90/4*4+h%3)
		}
		url := filepath.Join(texts, split+".txt")
		pipelinetest.Write(t, url, text)
		params.Chunks = append(params.Chunks, triples.Chunk{URL: url, Graph: triples.Training, Split: split})
	}
	pipelinetest.RunBeam(t, preprocess.Build(params))
	s, err := counts.ReadDataset(ctx, w.Graph())
	if err != nil {
		t.Fatal(err)
	}
	if err := stage.Publish(ctx, map[string]int64{"entities": s.Entities, "edges": s.Edges}); err != nil {
		t.Fatal(err)
	}
	m, err := w.Require(ctx, workspace.GraphFolder, workspace.Command{})
	if err != nil {
		t.Fatal(err)
	}
	return w.Root(), m
}

// TestJoinWritesTheSameBytes compares with workers that hold the graph, for any number of edge
// shards and for few and many hops.
func TestJoinWritesTheSameBytes(t *testing.T) {
	for _, test := range []struct {
		shards, hops, ranges, words, perPipeline int
		run                                      int64
	}{{1, 3, 1, 8, 1, 1 << 20}, {2, 1, 3, 1, 1, 1 << 20}, {5, 6, 2, 1, 2, 400}} {
		t.Run(fmt.Sprintf("%+v", test), func(t *testing.T) {
			root, m := sharded(t, test.shards)
			if n := len(kg.EdgeFiles(m, "test")); n != test.shards {
				t.Fatalf("%d shards of edges", n)
			}
			queries, err := tables.ReadQueryTable(context.Background(), filepath.Join(root, "graph", kg.QueriesFile("test")))
			if err != nil {
				t.Fatal(err)
			}
			sources := tables.SourcesOf(queries)
			if len(sources) <= 64 {
				t.Fatalf("%d sources: want several blocks", len(sources))
			}
			p := distances.SearchParams{Graph: filepath.Join(root, "graph"), Split: "test", Hops: test.hops}
			p.Folder = filepath.Join(root, "worker")
			worker, err := Build(sources, Params(m, len(sources), p).Layout.PerTable, p)
			if err != nil {
				t.Fatal(err)
			}
			pipelinetest.RunBeam(t, worker)
			p.Folder = filepath.Join(root, "join")
			params := Params(m, len(sources), p)
			params.Layout.Ranges, params.Layout.Words, params.Layout.ChunkBytes = test.ranges, test.words, test.run
			if err := searchByJoin(context.Background(), pipelinetest.Environment(), sources, params, test.perPipeline); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"distances-00000-of-00001.arrow", counts.DistributionFile} {
				want, err := os.ReadFile(filepath.Join(root, "worker", name))
				if err != nil {
					t.Fatal(err)
				}
				got, err := os.ReadFile(filepath.Join(root, "join", name))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s: %d bytes differ from %d", name, len(got), len(want))
				}
			}
		})
	}
}

// TestMethods holds that the method changes nothing in what a run writes or finds there.
func TestMethods(t *testing.T) {
	workspace := prepared(t, 7, true)
	pipelinetest.Succeed(t, Pipeline(), "--workspace", workspace, "--split", "test", "--method", "join")
	read := func() []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(workspace, "distances", "test", "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	want := read()
	pipelinetest.Succeed(t, Pipeline(), "--workspace", workspace, "--split", "test", "--method", "worker", "--force")
	if !bytes.Equal(read(), want) {
		t.Error("the manifests differ")
	}
}

func TestRangesAreWhole(t *testing.T) {
	for _, test := range []struct{ entities, shards int }{{1, 1}, {10, 3}, {7, 7}, {3, 5}, {40943, 13}} {
		p := joinsearch.Layout{Entities: test.entities, Ranges: test.shards}
		next := int32(0)
		for k := range test.shards {
			from, to := p.Range(k)
			if from != next || to < from {
				t.Errorf("%+v: range %d is %d to %d after %d", test, k, from, to, next)
			}
			for o := from; o < to; o++ {
				if got := int(int64(o) * int64(test.shards) / int64(test.entities)); got != k {
					t.Errorf("%+v: entity %d is in shard %d, its range in %d", test, o, got, k)
				}
			}
			next = to
		}
		if int(next) != test.entities {
			t.Errorf("%+v: the ranges end at %d", test, next)
		}
	}
}
