package train

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/workspace/metrics"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestDevice trains on the CPU, resumes on a device, which fits probabilities, too, and then on the CPU again. Each run
// says so, and training.jsonl records it.
func TestDevice(t *testing.T) {
	card := pipelinetest.UseDevices(t, 1)[0]
	w := ring(t, 8) // with just enough facts for probabilities
	run := func(says, not string, onDevice bool, flags ...string) {
		t.Helper()
		code, _, stderr := pipelinetest.Run(t, Pipeline(),
			small(w, append(flags, "--layers", "2", "--batch_size", "16", "--queries_per_epoch", "16", "--valid_limit", "2")...)...)
		if code != 0 || !strings.Contains(stderr, says) || strings.Contains(stderr, not) {
			t.Errorf("%q: %d, %s; want %q and not %q", flags, code, stderr, says, not)
		}
		history, err := metrics.ReadHistory(t.Context(), filepath.Join(w, "runs/main/training.jsonl"))
		if err != nil || len(history) == 0 {
			t.Fatalf("%d lines, %v", len(history), err)
		}
		if last := history[len(history)-1].Kernel; (last == "cuda") != onDevice {
			t.Errorf("%q: training.jsonl says %s, want a device: %v", flags, last, onDevice)
		}
	}
	run("epoch 1 of 1", "computing on", false, "--epochs", "1", "--device", "cpu")
	run("computing on cuda:0 (", "on the CPU", true, "--epochs", "2", "--resume")
	if card.Count("step") != 1 || card.Count("score") == 0 {
		t.Errorf("operations %q, want a step, a validation and a fit", card.Operations)
	}
	run("the epoch before was trained with --device cuda:", "computing on", false, "--epochs", "3", "--resume", "--device", "cpu")
	run("computing on the CPU: policy astar", "use --device cpu", false, "--epochs", "1", "--force", "--policy", "astar")

	before := pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints"))
	for _, device := range []string{"cuda", "cuda:1"} {
		code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--device", device, "--force", "--policy", "astar")...)
		if code != 1 || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "--device "+device+": ") {
			t.Errorf("%s: %d, %q, want one line", device, code, stderr)
		}
	}
	pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints")), before)
}

// TestDeviceFails trains on devices that fail: the error is a line that says what to do, auto trains on the CPU where
// the device is of no use from the beginning, and a training whose device is lost resumes with the same weights as one
// without a failure.
func TestDeviceFails(t *testing.T) {
	short := []string{"--batch_size", "16", "--queries_per_epoch", "16", "--valid_limit", "2", "--epochs", "1", "--layers", "2"}
	for name, fault := range pipelinetest.Faults(1) {
		t.Run(name, func(t *testing.T) {
			w := ring(t, 6) // too few facts for probabilities
			pipelinetest.UseFaulty(t, fault)
			what, remedy, _ := strings.Cut(fault.Err.Error(), "; ")
			switch name {
			case "lost":
				remedy = "continue with --resume, or on the CPU with --resume --device cpu; there is no checkpoint yet"
			case "no memory":
				remedy = "end other processes on the GPU, or continue on the CPU with --resume --device cpu; there is no checkpoint yet"
			}
			code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w, append(short, "--device", "cuda")...)...)
			if last := lastLine(stderr); code != 1 || !strings.Contains(last, what+"; "+remedy) || strings.Contains(stderr, "goroutine") {
				t.Errorf("cuda: %d, %s, want a line with %q and %q", code, stderr, what, remedy)
			}
			code, _, stderr = pipelinetest.Run(t, Pipeline(), small(w, append(short, "--resume")...)...)
			if name != "lost" {
				if code != 0 || !strings.Contains(stderr, "computing on the CPU: ") || strings.Contains(stderr, "use --device cpu") {
					t.Errorf("auto: %d, %s, want that the CPU takes over", code, stderr)
				}
				return
			}
			if last := lastLine(stderr); code != 1 || !strings.Contains(last, what) {
				t.Errorf("auto: %d, %s, want that the device was lost", code, stderr)
			}
			pipelinetest.UseDevices(t, 1)
			code, _, stderr = pipelinetest.Run(t, Pipeline(), small(w, append(short, "--resume")...)...)
			if code != 0 {
				t.Errorf("resuming: %d, %s", code, stderr)
			}
			whole := ring(t, 6)
			pipelinetest.Succeed(t, Pipeline(), small(whole, short...)...)
			if diff := cmp.Diff(weights(t, whole), weights(t, w)); diff != "" {
				t.Error("the weights after a lost device are others than without")
			}
		})
	}
}

// lastLine returns the last line of what a command printed.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// weights returns the content of the checkpoint of the first epoch.
func weights(t *testing.T, workspace string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(workspace, "runs/main/checkpoints", "epoch-001.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
