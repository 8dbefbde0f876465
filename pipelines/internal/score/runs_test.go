package score

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/model"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/pipelines/internal/train"
)

// TestRuns trains and scores a second run in a workspace: the first one keeps its bytes, and commands that
// follow name the second.
func TestRuns(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	before := pipelinetest.Files(t, w)
	wide := []string{"--workspace", w, "--run", "wide"}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{
		Code: command.ExitFailure, Begin: "there is no checkpoint in " + w + "/runs/wide/checkpoints",
		Says: []string{"run go run ./pipelines/train --workspace " + w + " --run wide first", "the runs that exist: main\n"},
	}, wide...)
	main := filepath.Join(w, "runs/main")
	if err := errors.Join(os.Rename(main, filepath.Join(w, "runs/other")), os.Mkdir(main, 0o755),
		os.WriteFile(filepath.Join(main, "training.jsonl"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"the runs that exist: other\n"}}, "--workspace", w)
	if err := errors.Join(os.RemoveAll(main), os.Rename(filepath.Join(w, "runs/other"), main)); err != nil {
		t.Fatal(err)
	}
	out := pipelinetest.Succeed(t, train.Pipeline(), append(wide, "--layers", "3", "--dim", "9", "--epochs", "1", "--negatives", "8")...)
	if next := "next: go run ./pipelines/score --workspace " + w + " --run wide\n"; !strings.Contains(out, next) {
		t.Errorf("train does not end with %q:\n%s", next, out)
	}
	out = pipelinetest.Succeed(t, Pipeline(), wide...)
	if next := "next: go run ./pipelines/report --workspace " + w + " --run wide\n"; !strings.HasSuffix(out, next) ||
		!strings.Contains(out, "wrote "+w+"/runs/wide/evaluation/test/metrics.json") {
		t.Errorf("score does not end with %q:\n%s", next, out)
	}
	after := pipelinetest.Files(t, w)
	for name := range after {
		if _, there := before[name]; strings.HasPrefix(name, "runs/wide/") || strings.HasPrefix(name, "probabilities/") && !there {
			delete(after, name)
		}
	}
	pipelinetest.Same(t, after, before)

	m, err := model.Open(t.Context(), w, model.WithRun("wide"))
	if err != nil || m.Configuration().Dim != 9 {
		t.Errorf("the library opens %+v, %v; want the model of 9 dimensions", m, err)
	}
	if _, err := model.Open(t.Context(), w, model.WithRun("../main")); err == nil || !strings.Contains(err.Error(), "folder name") {
		t.Errorf("the library opens a run outside runs/: %v", err)
	}
	elsewhere := filepath.Join(t.TempDir(), "epoch-003")
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Begin: "--model: there is no checkpoint in " + filepath.Dir(elsewhere)},
		"--workspace", w, "--model", elsewhere)
	for _, name := range []string{"", "a/b", ".."} {
		pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitUsage, Begin: `--run is "` + name + `": want a folder name`}, "--workspace", w,
			"--run", name)
	}
}
