package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/input/datasets"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/metrics"
	"tagnet/infra/experiments/internal/engine"
	"tagnet/infra/experiments/internal/reach"
	"tagnet/infra/internal/program"
)

// TestUsage refuses what is wrong before anything runs.
func TestUsage(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	for arguments, want := range map[string]string{
		"--only nothing":      `--only: nothing matches "nothing", of SET or SET/PERCENT; the closest sets are `,
		"--only WN18RR/3":     `--only: nothing matches "WN18RR/3"`,
		"--memory 0":          "--memory must be 1 or more",
		"--list nothing.json": "--list: ",
		"set":                 `unexpected argument "set"`,
	} {
		var printed strings.Builder
		all := append([]string{"--state", state, "--data", state, "--list", "../" + reach.ListFile}, strings.Fields(arguments)...)
		err := run(t.Context(), all, &printed, &printed)
		if err == nil || !strings.Contains(err.Error(), want) || printed.Len() > 0 {
			t.Errorf("%s: error %v, want %q; printed %s", arguments, err, want, printed.String())
		}
		if usage := errors.As(err, new(program.UsageError)); usage == strings.HasPrefix(arguments, "--list") {
			t.Errorf("%s: a usage error: %v", arguments, usage)
		}
	}
}

// TestCommand measures a reach with the real program, and checks what is made when.
func TestCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("builds tagnet")
	}
	root := t.TempDir()
	tagnet := filepath.Join(root, "tagnet")
	if _, err := engine.Build(t.Context(), tagnet); err != nil {
		t.Fatal(err)
	}
	if err := datasets.Samples()[0].Write(t.Context(), filepath.Join(root, "data", "sample"), 1); err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(root, reach.ListFile)
	write := func(limit string) {
		t.Helper()
		text := `{"protocol": [], "percents": [1, 100], "sets": [
			{"name": "people", "dataset": "sample", "train": "--dim 4 --layers 3 --negatives 4 --epochs 1 --queries_per_epoch 200"` + limit + `},
			{"name": "nothing", "dataset": "nothing", "train": ""}]}`
		if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	call := func(arguments ...string) (string, error) {
		var printed strings.Builder
		all := append([]string{"--list", list, "--data", filepath.Join(root, "data"), "--state", filepath.Join(root, "state"), "--tagnet", tagnet}, arguments...)
		err := run(context.Background(), all, &printed, &printed)
		return printed.String(), err
	}
	read := func(percent int) reach.Result {
		t.Helper()
		l, err := reach.ReadList(t.Context(), list)
		if err != nil {
			t.Fatal(err)
		}
		r, err := reach.Item{Set: l.Sets[0], Percent: percent}.Read(t.Context(), filepath.Join(root, filepath.FromSlash(reach.ResultsFolder)))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	write("")
	text, err := call()
	if err == nil || err.Error() != "2 failed: nothing/100, nothing/1" || !strings.Contains(text, "people/1: MRR 0.") {
		t.Fatalf("with a set without data: error %v\n%s", err, text)
	}
	whole, part := read(100), read(1)
	if whole.Scored != nil || whole.Trained == nil || part.Trained == nil || part.Scored == nil {
		t.Fatalf("%+v, %+v", whole, part)
	}
	// The part of a query does not depend on the model.
	if a, b := part.Trained.Measured, *part.Scored; a.Messages != b.Messages || a.Unreached != b.Unreached || a.Pessimistic == b.Pessimistic {
		t.Errorf("trained %+v, scored %+v", a, b)
	}
	if part.Trained.Messages >= whole.Trained.Messages || part.Trained.Training.Messages >= whole.Trained.Training.Messages || part.Reach*100 < whole.Reach || part.Reach*100 >= whole.Reach+100 {
		t.Errorf("a reach of %d sends %d messages, %d entities %d", part.Reach, part.Trained.Messages, whole.Reach, whole.Trained.Messages)
	}
	m, err := storage.ReadJSON[metrics.Evaluation](t.Context(), filepath.Join(root, "state/workspaces/people/runs/reach-100/evaluation/test", metrics.File))
	if err != nil || m.Summary != part.Scored.Summary {
		t.Errorf("%v, %+v, want %+v", err, part.Scored.Summary, m.Summary)
	}
	if tr := whole.Trained.Training; tr.Epochs != 1 || tr.Queries < 100 || tr.Queries > 200 || !(tr.CPUSeconds > 0) || !strings.HasPrefix(tr.Command, "tagnet train --workspace people --run reach-100 --dim 4 ") || strings.Contains(tr.Command, "--reach ") {
		t.Errorf("the training is %+v", tr)
	}
	if text, err := call("--only", "people"); err != nil || strings.Contains(text, "people/") {
		t.Errorf("again: error %v\n%s", err, text)
	}
	write(`, "limit": 30`)
	if text, err = call("--only", "people/100"); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if r := read(100); r.Trained == nil || r.Trained.Measured.Queries != 30 || r.Trained.Sample == nil || r.Trained.Sample.Of != whole.Trained.Measured.Queries {
		t.Errorf("with a limit: %+v", r.Trained)
	}
	if r := read(1); r.Trained != nil {
		t.Error("a result without the limit counts as one with it")
	}
}
