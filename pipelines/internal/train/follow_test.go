package train

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/pipelinetest"
)

// A training on other machines is shown by its files: each epoch once, and the newest checkpoint.
func TestFilesShowTheTraining(t *testing.T) {
	w := finished(t)
	history := pipelinetest.Read(t, w, "runs/main/training.jsonl")
	var text bytes.Buffer
	e := &command.Environment{Workspace: workspace.New(w), Progress: progress.New(&text, false)}
	trained := &training{plan: &plan{e: e, decision: &decision{folder: checkpoint.Folder(filepath.Join(w, "runs/main/checkpoints"))}}}
	trained.Configuration = configuration.Configuration{Epochs: 4}
	show := &display{environment: e}
	lines := strings.SplitAfter(history, "\n")
	shown := 7 // of a training that this one replaced
	for n := range lines {
		if err := os.WriteFile(filepath.Join(w, "runs/main/training.jsonl"), []byte(strings.Join(lines[:n], "")), 0o666); err != nil {
			t.Fatal(err)
		}
		if shown = trained.showFiles(t.Context(), 100, shown, show); shown != n {
			t.Errorf("%d lines shown, want %d", shown, n)
		}
	}
	for _, epoch := range []string{"epoch 1 of 4: loss ", "epoch 4 of 4: loss "} {
		if strings.Count(text.String(), epoch) != 1 {
			t.Errorf("not once %q in\n%s", epoch, text.String())
		}
	}
	if show.last.Checkpoint != "epoch-004" || show.last.Queries != 100 {
		t.Errorf("the last progress is %+v", show.last)
	}
}
