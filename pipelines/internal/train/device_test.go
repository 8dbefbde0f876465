package train

import (
	"path/filepath"
	"strings"
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/learn"
)

// TestDevice trains on a device, resumes on the CPU and then on the device again. Each run says so, and training.jsonl
// records it.
func TestDevice(t *testing.T) {
	pipelinetest.Interpret(t)
	w := ring(t, 40)
	run := func(says, not string, onDevice bool, flags ...string) {
		t.Helper()
		code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, append(flags, "--batch_size", "64")...)...)
		if code != 0 || !strings.Contains(stderr, says) || strings.Contains(stderr, not) {
			t.Errorf("%q: %d, %s; want %q and not %q", flags, code, stderr, says, not)
		}
		history, err := learn.ReadHistory(t.Context(), filepath.Join(w, "training.jsonl"))
		if err != nil || len(history) == 0 {
			t.Fatalf("%d lines, %v", len(history), err)
		}
		if last := history[len(history)-1].Kernel; (last == "cuda") != onDevice {
			t.Errorf("%q: training.jsonl says %s, want a device: %v", flags, last, onDevice)
		}
	}
	run("computing on cuda:0 (", "the epoch before", true, "--epochs", "1")
	run("the epoch before was trained with --device cuda:", "computing on", false, "--epochs", "2", "--resume", "--device", "cpu")
	run("computing on cuda:0 (", "on the CPU", true, "--epochs", "3", "--resume", "--device", "cuda")
	run("computing on the CPU: cuda:0 (", "use --device cpu", false, "--epochs", "1", "--force", "--policy", "full")

	before := pipelinetest.Files(t, filepath.Join(w, "checkpoints"))
	for _, device := range []string{"cuda", "cuda:1"} {
		code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--device", device, "--force", "--policy", "full")...)
		if code != 1 || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "--device "+device+": ") {
			t.Errorf("%s: %d, %q, want one line", device, code, stderr)
		}
	}
	pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(w, "checkpoints")), before)
}
