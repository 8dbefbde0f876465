package preprocess

import (
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/workspace/counts"
	"tagnet/model/graph/kg"
	"tagnet/model/graph/synthetic"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestMadeUpGraphs names each made-up graph, in a workspace of that name, twice. No fact that a graph
// lacks is in any table.
func TestMadeUpGraphs(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, made := range synthetic.Samples() {
		flags := []string{"--workspace", made.Name, "--dataset", made.Name}
		pipelinetest.Succeed(t, Pipeline(), flags...)
		graph := filepath.Join(made.Name, "graph")
		s, err := counts.ReadDataset(t.Context(), graph)
		if err != nil {
			t.Fatal(err)
		}
		if s.Dataset != made.Name {
			t.Errorf("the dataset of %s is %s", made.Name, s.Dataset)
		}
		if made.Typed() && (s.Types == nil || s.Types.Entities != s.Entities) {
			t.Errorf("%s: the types are %+v, want some of all %d entities", made.Name, s.Types, s.Entities)
		}
		missing, err := synthetic.ReadMissing(t.Context(), filepath.Join(made.Name, made.Name))
		if err != nil {
			t.Fatal(err)
		}
		known := factsOf(t, made.Name)
		if int64(len(known)) != s.Facts+(s.Queries["valid"]+s.Queries["test"])/2 {
			t.Errorf("%s: %d facts are known, want those of the splits", made.Name, len(known))
		}
		for f := range missing {
			if known[f] {
				t.Errorf("%s: the missing fact %v is known", made.Name, f)
			}
		}
		again := pipelinetest.Succeed(t, Pipeline(), flags...)
		if !strings.Contains(again, "is complete with the same data") {
			t.Errorf("%s: a second run says %s", made.Name, again)
		}
	}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitUsage,
		Begin: `--types is "x" without a --dataset of files: the built-in sample-shop needs none`},
		"--workspace", "w", "--dataset", "sample-shop", "--types", "x")
}

// factsOf returns all facts of the graph of a workspace.
func factsOf(t *testing.T, root string) map[kg.Triple]bool {
	t.Helper()
	loaded, _, err := workspace.New(root).OpenGraph(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := loaded.AllFacts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	known := map[kg.Triple]bool{}
	for entity, tail := range all.Entities {
		senders, relations := all.Graph.In(int32(entity))
		for i, relation := range relations {
			if int(relation) < len(loaded.Relations) {
				known[kg.Triple{Head: all.Entities[senders[i]], Relation: loaded.Relations[relation], Tail: tail}] = true
			}
		}
	}
	return known
}
