package train

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
)

// byTwo returns the flags of a small training by two workers.
func byTwo(workspace string, more ...string) []string {
	return small(workspace, append([]string{"--workers", "2", "--local_steps", "2", "--epochs", "3"}, more...)...)
}

// unfinish leaves the files of a finished training as a run leaves them that was killed in its last
// epoch, and returns those of the finished one.
func unfinish(t *testing.T, folder, last string) map[string]string {
	t.Helper()
	whole := pipelinetest.Files(t, folder)
	for name := range whole {
		if name == "manifest.json" || strings.HasPrefix(name, last) {
			pipelinetest.Remove(t, filepath.Join(folder, name))
		}
	}
	return whole
}

func TestRounds(t *testing.T) {
	w := ring(t, 40)
	code, out, stderr := pipelinetest.Run(t, Pipeline(), byTwo(w)...)
	if code != 0 || !strings.Contains(out, "best: epoch") || !strings.Contains(stderr, "epoch 3 of 3: loss") ||
		!strings.Contains(stderr, "computing on the CPU: 2 workers") {
		t.Fatalf("%d, %s%s", code, out, stderr)
	}
	fittedOf(t, w)
	for name := range pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints")) {
		if strings.Contains(name, "/") || strings.HasPrefix(name, "step-") {
			t.Errorf("%s is left", name)
		}
	}
	if code, out, _ := pipelinetest.Run(t, Pipeline(), byTwo(w)...); code != 0 || !strings.Contains(out, "is complete") {
		t.Errorf("a second run: %d, %s", code, out)
	}
}

// TestRoundsOfSeveralJobs trains an epoch of 28 rounds, which do not fit into one job.
func TestRoundsOfSeveralJobs(t *testing.T) {
	w := ring(t, 40)
	pipelinetest.Succeed(t, Pipeline(), small(w, "--workers", "2", "--local_steps", "1", "--epochs", "1", "--batch_size", "2", "--dim", "4", "--layers", "2",
		"--negatives", "2", "--valid_limit", "1")...)
	history := pipelinetest.Read(t, w, "runs/main/training.jsonl")
	if n := strings.Count(history, "\n"); n != 1 {
		t.Errorf("%d lines of history, want 1:\n%s", n, history)
	}
}

func TestResumeRounds(t *testing.T) {
	w := ring(t, 40)
	folder := filepath.Join(w, "runs/main/checkpoints")
	pipelinetest.Succeed(t, Pipeline(), byTwo(w)...)
	whole := unfinish(t, folder, "epoch-003")
	for name, c := range map[string]struct {
		flags []string
		want  string
	}{
		"other workers":     {[]string{"--workers", "3"}, "workers is 2 there, 3 here"},
		"one worker":        {[]string{"--workers", "1"}, "workers is 2 there, 1 here"},
		"other local steps": {[]string{"--local_steps", "4"}, "local_steps is 2 there, 4 here"},
	} {
		code, _, stderr := pipelinetest.Run(t, Pipeline(), byTwo(w, append(c.flags, "--resume")...)...)
		if code != 1 || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, "--force") {
			t.Errorf("%s: %d, no %q in %s", name, code, c.want, stderr)
		}
	}
	// A result that a worker wrote after its round was over goes at the end.
	pipelinetest.Write(t, filepath.Join(folder, "rounds", "shard-001", "step-00000001.safetensors"), "late")
	code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--resume")
	if code != 0 || !strings.Contains(stderr, "resuming from epoch-002") || !strings.Contains(stderr, "2 workers") {
		t.Errorf("%d, %s", code, stderr)
	}
	pipelinetest.Same(t, pipelinetest.Files(t, folder), whole)
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), small(w)...); code != 1 || !strings.Contains(stderr, "workers is 2 there") {
		t.Errorf("another configuration of a complete training: %d, %s", code, stderr)
	}
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--resume", "--epochs", "4"); code != 0 ||
		!strings.Contains(stderr, "epoch 4 of 4") || strings.Contains(stderr, "epoch 3 of") {
		t.Errorf("one more epoch: %d, %s", code, stderr)
	}
}

func TestMistakesOfRounds(t *testing.T) {
	w := ring(t, 40)
	for want, flags := range map[string][]string{
		"--workers is 0: want 1 to 256\n":      {"--workers", "0"},
		"--workers is 257: want 1 to 256\n":    {"--workers", "257"},
		"--local_steps is 0: want 1 or more\n": {"--local_steps", "0"},
	} {
		code, _, stderr := pipelinetest.Run(t, Pipeline(), byTwo(w, flags...)...)
		if code != command.ExitUsage || !strings.HasPrefix(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: %d, %q, want %q", flags, code, stderr, want)
		}
	}
	code, _, stderr := pipelinetest.Run(t, Pipeline(), byTwo(w, "--learning_rate", "1e37")...)
	if code != command.ExitDiverged || !strings.Contains(stderr, "try a lower --learning_rate") {
		t.Errorf("a loss that is not finite: %d, %q", code, stderr)
	}
}

// TestInterruptedRoundsEndInTheSameBytes stops the real process as Ctrl-C does.
func TestInterruptedRoundsEndInTheSameBytes(t *testing.T) {
	w := ring(t, 60)
	last, printed := interruptedAfter(t, 1, syscall.SIGINT, byTwo(w, "--epochs", "100000")...)
	if !strings.Contains(printed, "the last round is kept") {
		t.Error(printed)
	}
	end := fmt.Sprint(last + 1)
	code, _, text := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--resume", "--epochs", end)
	if code != 0 || !strings.Contains(text, "resuming from ") {
		t.Errorf("%d, %s", code, text)
	}
	undisturbed := ring(t, 60)
	pipelinetest.Succeed(t, Pipeline(), byTwo(undisturbed, "--epochs", end)...)
	want := pipelinetest.Files(t, filepath.Join(undisturbed, "runs/main/checkpoints"))
	for name, text := range pipelinetest.Files(t, filepath.Join(w, "runs/main/checkpoints")) {
		if name == "manifest.json" || strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, fmt.Sprintf("epoch-%03d", last+1)) {
			continue // records of epochs before name the number that was wanted then
		}
		pipelinetest.SameText(t, name, text, want[name])
	}
}
