package bundle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tagnet/formats/storage"
	"tagnet/model/engine/parts"
	"tagnet/model/graph/kg"
	"tagnet/model/learn/learntest"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/stages/encode"
)

func TestMain(m *testing.M) { os.Exit(pipelinetest.Main(m, Pipeline())) }

// prepared returns a workspace with a graph of random facts over a chain of entities, in the inductive setting with an
// inference graph too.
func prepared(t *testing.T, seed uint64, inductive bool) string {
	t.Helper()
	workspace := t.TempDir()
	arguments := []string{"--workspace", workspace, "--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(seed, "e", 200))}
	if inductive {
		arguments = append(arguments, "--inference", pipelinetest.Dataset(t, pipelinetest.Chain(seed+100, "o", 150)))
	}
	pipelinetest.Succeed(t, preprocess.Pipeline(), arguments...)
	return workspace
}

// compare compares a folder of parts with those that a finder of the whole graph finds.
func compare(t *testing.T, k *kg.KG, folder string, w parts.Requirements) {
	t.Helper()
	ctx := context.Background()
	w.Graph = k.Manifest.Checksum
	f, err := parts.Open(ctx, folder, w)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	header, err := learntest.HeaderOf(ctx, k, w.Split, configuration.Configuration{Reach: w.Reach, Layers: w.Layers, Remove: w.Remove}, f.Header.Drawn)
	if err != nil {
		t.Fatal(err)
	}
	header.Firsts, header.Limit = f.Header.Firsts, w.Limit
	if diff := cmp.Diff(header, f.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	found, err := learntest.FindParts(ctx, k, f.Header)
	if err != nil {
		t.Fatal(err)
	}
	r, present := f.Reader(), map[int64]bool{}
	for _, want := range found {
		present[want.Queries[0].Number] = true
		got, err := r.Find(want.Queries[0].Number)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&parts.Part{Subgraph: want.Part, Queries: want.Queries}, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("part of query %d (-want +got):\n%s", want.Queries[0].Number, diff)
		}
	}
	if len(found) < 20 {
		t.Errorf("only %d parts", len(found))
	}
}

// TestFlagsChooseParts compares the parts that flags choose with those of a finder that has the graph.
func TestFlagsChooseParts(t *testing.T) {
	workspace := prepared(t, 1, true)
	k, err := encode.Load(t.Context(), filepath.Join(workspace, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		parts.Requirements
		flags string
	}{
		{parts.Requirements{Split: "train", Reach: 90, Layers: 6, Remove: "none"}, "--remove none --queries_per_epoch 40 --epochs 2 --seed 5"},
		{parts.Requirements{Split: "train", Reach: 12, Layers: 3, Remove: "triple"}, "--queries_per_epoch 40 --epochs 1 --batch_size 8"},
		{parts.Requirements{Split: "test", Reach: 15, Layers: 5, Limit: 29}, "--limit 29"},
	} {
		arguments := []string{"--workspace", workspace, "--split", test.Split, "--reach", fmt.Sprint(test.Reach), "--layers", fmt.Sprint(test.Layers)}
		pipelinetest.Succeed(t, Pipeline(), append(arguments, strings.Fields(test.flags)...)...)
		compare(t, k, filepath.Join(workspace, "bundles", parts.Name(test.Split, test.Reach, test.Layers)), test.Requirements)
	}
}

// TestMistakes holds what is refused, and what helps.
func TestMistakes(t *testing.T) {
	workspace := prepared(t, 2, false)
	for _, test := range []struct {
		flags []string
		says  string
	}{
		{nil, "--reach is 0"},
		{[]string{"--reach", "1000"}, "each part would be the graph"},
		{[]string{"--reach", "-1"}, "--reach"},
		{[]string{"--reach", "10", "--split", "test", "--remove", "none"}, "leave it out with --split test"},
		{[]string{"--reach", "10", "--epochs", "2"}, "--queries_per_epoch"},
		{[]string{"--reach", "10", "--epochs", "2", "--remove", "none"}, "--epochs decides which queries"},
		{[]string{"--reach", "10", "--limit", "5"}, "--limit is a sample"},
		{[]string{"--reach", "10", "--split", "test", "--limit", "-1"}, "--limit is -1"},
		{[]string{"--reach", "10", "--memory", "1"}, "--memory 1 is too small"},
	} {
		pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitUsage, Begin: "--", Says: []string{test.says}},
			append([]string{"--workspace", workspace}, test.flags...)...)
	}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"preprocess"}}, "--workspace", t.TempDir(), "--reach", "10")
	if left, err := storage.List(t.Context(), filepath.Join(workspace, "bundles")); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
}

// TestSecondRun holds that a folder that is complete stays, that another configuration is refused, and
// that --force writes it.
func TestSecondRun(t *testing.T) {
	workspace := prepared(t, 3, false)
	arguments := []string{"--workspace", workspace, "--reach", "10", "--layers", "3"}
	pipelinetest.Succeed(t, Pipeline(), arguments...)
	if out := pipelinetest.Succeed(t, Pipeline(), arguments...); !strings.Contains(out, "complete with the same configuration") {
		t.Errorf("the second run says %q", out)
	}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"remove is \"triple\" there", "--force"}},
		append(arguments, "--remove", "none")...)
	pipelinetest.Succeed(t, Pipeline(), append(arguments, "--remove", "none", "--force")...)
}

func TestPlan(t *testing.T) {
	workspace := prepared(t, 4, false)
	pipelinetest.Plan(t, Pipeline(), workspace, "bundle.Find", "--reach", "10")
}

// TestNext follows the lines that name the next command, from the first parts to a training that reads them.
func TestNext(t *testing.T) {
	workspace := prepared(t, 6, false)
	for _, step := range []struct{ flags, next string }{
		{"--split valid --limit 9 --reach 20 --layers 3", "bundle --workspace W --reach 20 --layers 3 --queries_per_epoch N"},
		{"--layers 3 --reach 20 --queries_per_epoch 30 --epochs 2 --seed 4 --remove none",
			"train --workspace W --bundles --reach 20 --layers 3 --remove none --queries_per_epoch 30 --epochs 2 --seed 4 --valid_limit 9"},
		{"--split valid --limit 9 --reach 20 --layers 3",
			"train --workspace W --bundles --reach 20 --layers 3 --remove none --queries_per_epoch 30 --epochs 2 --seed 4 --valid_limit 9"},
		{"--split test --limit 9 --reach 20 --layers 3", "score --workspace W --bundles --reach 20 --limit 9"},
		{"--split test --limit 999999 --reach 20 --layers 3 --force", "score --workspace W --bundles --reach 20"},
		{"--reach 21", "bundle --workspace W --split valid --reach 21"},
		{"--reach 22 --queries_per_epoch 20 --epochs 1 --batch_size 8", "bundle --workspace W --split valid --reach 22 --limit 2000"},
		{"--reach 22 --split valid", "train --workspace W --bundles --reach 22 --queries_per_epoch 20 --epochs 1 --batch_size 8"},
	} {
		out := pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", workspace}, strings.Fields(step.flags)...)...)
		if want := "next: go run ./pipelines/" + strings.ReplaceAll(step.next, "W", workspace) + "\n"; !strings.HasSuffix(out, want) {
			t.Errorf("%s: %s does not end with %s", step.flags, out, want)
		}
	}
}

// TestTakenOver holds that a run that lost its folder to another one writes nothing there.
func TestTakenOver(t *testing.T) {
	pipelinetest.TakenOver(t, Pipeline(), prepared(t, 5, false), "bundles/test-k10-t6", "--split", "test", "--reach", "10")
}
