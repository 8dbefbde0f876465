package train

import (
	"path/filepath"
	"strings"
	"testing"

	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestPatience ends a training before its last epoch. It is complete, for --resume and more epochs
// too, and was recorded.
func TestPatience(t *testing.T) {
	w := ring(t, 40)
	folder := filepath.Join(w, "runs/main/checkpoints")
	flags := func(more ...string) []string {
		return small(w, append([]string{"--epochs", "60", "--learning_rate", "0.05", "--patience", "2"}, more...)...)
	}
	code, out, stderr := pipelinetest.Run(t, Pipeline(), flags()...)
	records, _, err := checkpoint.Folder(folder).Records(t.Context())
	if code != 0 || err != nil || !strings.Contains(stderr, "no better validation in 2 epochs: the training ends") || !strings.Contains(out, "next: ") {
		t.Fatalf("%d, %v: %s%s", code, err, out, stderr)
	}
	n := len(records)
	if n >= 60 || records[n-1].Validation.Patience != 2 {
		t.Errorf("%d epochs, %+v", n, records[n-1].Validation)
	}
	if best, err := checkpoint.Folder(folder).Best(t.Context()); err != nil || best != checkpoint.EpochName(n-2) {
		t.Errorf("the best of %d is %s (%v), want the one 2 epochs before", n, best, err)
	}
	whole := pipelinetest.Files(t, folder)
	for _, more := range [][]string{nil, {"--resume"}} {
		if out := pipelinetest.Succeed(t, Pipeline(), flags(more...)...); !strings.Contains(out, "is complete with the same configuration") {
			t.Errorf("%q: %s", more, out)
		}
	}
	pipelinetest.Remove(t, folder, "manifest.json") // as an interrupt before the end leaves it
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--resume"); !strings.Contains(out, "best: epoch ") {
		t.Error(out)
	}
	pipelinetest.Same(t, pipelinetest.Files(t, folder), whole)
	for name, c := range map[string]struct {
		flags []string
		code  int
		says  string
	}{
		"several workers": {[]string{"--workers", "2", "--force"}, 2, "--patience is 2 with --workers 2"},
		"another":         {[]string{"--patience", "3"}, 1, "validation.patience is 2 there, 3 here"},
		"negative":        {[]string{"--patience", "-1"}, 2, "--patience is -1: want 0 or more"},
	} {
		if code, _, stderr := pipelinetest.Run(t, Pipeline(), flags(c.flags...)...); code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: %d, %s, want %s", name, code, stderr, c.says)
		}
	}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure,
		Says: []string{"ended by --patience 2", "--force with another --patience"}},
		"--workspace", w, "--resume", "--minutes", ".1")
	for _, r := range records {
		pipelinetest.Remove(t, folder, r.Name()+".json")
	}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{".json is missing, though"}}, "--workspace", w)
}
