package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/input/datasets"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/metrics"
	"tagnet/infra/experiments/internal/engine"
	"tagnet/infra/experiments/internal/zeroshot"
	"tagnet/infra/internal/program"
)

// TestUsage refuses what is wrong before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	for arguments, want := range map[string]string{
		"--only nothing":      `--only: no graph matches "nothing"`,
		"--models 5g":         `the list has no model "5g": it has 3g, 4g, 50g, zero; a file of weights is NAME=FILE`,
		"--models a/b=x.pth":  `"a/b" is no name`,
		"--models a=x.pth":    "model a: ",
		"--models 3g":         "model 3g: ",
		"--models a=D,a=D":    "a stands twice",
		"--limit -1":          "--limit must be 0 or more",
		"--list nothing.json": "--list: ",
		"graph":               `unexpected argument "graph"`,
	} {
		var printed strings.Builder
		list := "../" + zeroshot.ListFile
		all := append([]string{"--state", state, "--data", state, "--list", list}, strings.Fields(strings.ReplaceAll(arguments, "=D", "="+list))...)
		err := run(t.Context(), all, &printed, &printed)
		if err == nil || !strings.Contains(err.Error(), want) || printed.Len() > 0 {
			t.Errorf("%s: error %v, want %q; printed %s", arguments, err, want, printed.String())
		}
		if usage := errors.As(err, new(program.UsageError)); usage == strings.HasPrefix(arguments, "--list") {
			t.Errorf("%s: a usage error: %v", arguments, usage)
		}
	}
}

// TestCommand measures a checkpoint with the real program: its metrics are those of score.
func TestCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("builds tagnet")
	}
	root := t.TempDir()
	tagnet := filepath.Join(root, "tagnet")
	if _, err := engine.Build(t.Context(), tagnet); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(root, "data")
	if err := datasets.Samples()[0].Write(t.Context(), filepath.Join(data, "sample"), 1); err != nil {
		t.Fatal(err)
	}
	workspace := filepath.Join(root, "workspace")
	checkpoint := filepath.Join(workspace, "runs", "main", "checkpoints", "epoch-001.safetensors")
	for _, command := range []string{
		"preprocess --workspace " + workspace + " --dataset " + filepath.Join(data, "sample"),
		"train --workspace " + workspace + " --preset zero --dim 8 --layers 3 --negatives 4 --epochs 1 --queries_per_epoch 48",
		"score --workspace " + workspace + " --checkpoint " + checkpoint,
	} {
		if text, err := exec.Command(tagnet, strings.Fields(command)...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, text)
		}
	}
	list := filepath.Join(root, "zeroshot.json")
	if err := os.WriteFile(list, []byte(`{"protocol": [], "models": [], "graphs": [{"name": "people", "folder": "sample"}, {"name": "nothing", "folder": "nothing"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(root, "state")
	call := func(arguments ...string) (string, error) {
		var printed strings.Builder
		all := append([]string{"--list", list, "--data", data, "--state", state, "--tagnet", tagnet, "--models", "trial=" + checkpoint}, arguments...)
		err := run(context.Background(), all, &printed, &printed)
		return printed.String(), err
	}
	text, err := call()
	if err == nil || err.Error() != "1 failed: nothing/trial" || !strings.Contains(text, "nothing/train.txt: no such file or directory; put the data") {
		t.Errorf("without the data of a graph: error %v\n%s", err, text)
	}
	if !strings.Contains(text, "people/trial: MRR 0.") || !strings.Contains(text, "means over the 1 graphs") {
		t.Errorf("printed\n%s", text)
	}
	want, err := storage.ReadJSON[metrics.Evaluation](t.Context(), filepath.Join(workspace, "runs", "main", "evaluation", "test", metrics.File))
	if err != nil {
		t.Fatal(err)
	}
	results := filepath.Join(state, "results")
	got, err := zeroshot.ReadResult(t.Context(), results, "people", "trial")
	if err != nil {
		t.Fatal(err)
	}
	if z := got.ZeroShot; z.Summary != want.Summary || z.Messages != want.Messages || z.Distinct != want.Distinct || !(z.CPUSeconds > 0) {
		t.Errorf("%+v, want %+v", z, want)
	}
	text, err = call("--only", "people")
	if err != nil || strings.Contains(text, "1 of 1") {
		t.Errorf("again: error %v\n%s", err, text)
	}
	if text, err = call("--only", "people", "--limit", "7"); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if got, err = zeroshot.ReadResult(t.Context(), results, "people", "trial"); err != nil || got.ZeroShot.Queries != 14 || got.Limit != 7 {
		t.Errorf("%d queries with limit %d, error %v", got.ZeroShot.Queries, got.Limit, err)
	}
}
