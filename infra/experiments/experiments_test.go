package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tagnet/infra/internal/engine"
	"tagnet/infra/internal/program"
)

// call runs the command and returns what it printed on both outputs.
func call(ctx context.Context, arguments ...string) (string, error) {
	var printed strings.Builder
	err := run(ctx, arguments, &printed, &printed)
	return printed.String(), err
}

// writeSample writes a graph of few entities and many facts: an epoch takes long enough to be interrupted, and the fit
// of probabilities a moment.
func writeSample(t *testing.T, folder string) {
	t.Helper()
	splits := map[string]string{"train": "", "valid": "", "test": ""}
	for i := range 50 {
		for j := range 50 {
			split := "train"
			switch (i*50 + j) % 40 {
			case 0, 1, 2, 3:
				split = "valid"
			case 20, 21, 22, 23:
				split = "test"
			}
			if i != j && (7*i+3*j)%11 < 5 {
				splits[split] += fmt.Sprintf("e%d\tr%d\te%d\n", i, (i+j)%2, j)
			}
		}
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for split, facts := range splits {
		if err := os.WriteFile(filepath.Join(folder, split+".txt"), []byte(facts), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTraining makes a grid with the real program: it interrupts the first training, resumes it, and repeats it to the
// last digit. Building the program takes most of the time.
func TestTraining(t *testing.T) {
	if testing.Short() {
		t.Skip("builds tagnet")
	}
	t.Setenv("TAGNET_KERNEL", "") // --verify sets it, and this restores it
	folder := t.TempDir()
	writeSample(t, filepath.Join(folder, "sample"))
	list, state := filepath.Join(folder, "grid.json"), filepath.Join(folder, "state")
	text := fmt.Sprintf(`{"experiments": [{"name": "small", "datasets": [{"dataset": %q}], 
		"flags": {"dim": 16, "layers": 2, "negatives": 32, "batch_size": 32, "epochs": 4},
		"vary": {"delta": [0, 1]}, "seeds": [1], "protocols": ["test", "grail"]}]}`, filepath.Join(folder, "sample"))
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil { // after the first epoch
			time.Sleep(5 * time.Millisecond)
			if made, _ := filepath.Glob(filepath.Join(state, "work/sample/runs/small-delta-0-seed-1/checkpoints/*001*")); len(made) > 0 {
				cancel()
			}
		}
	}()
	printed, err := call(ctx, list, "--state", state, "--threads", "1")
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v\n%s", err, printed)
	}
	if printed, err = call(t.Context(), list, "--state", state, "--threads", "2"); err != nil || !strings.Contains(printed, "2 of 2 runs are done") {
		t.Fatalf("error %v\n%s", err, printed)
	}
	log, err := os.ReadFile(filepath.Join(state, "logs/sample/small-delta-0-seed-1.log"))
	if err != nil || !strings.Contains(string(log), "--resume") {
		t.Errorf("error %v, the training is not resumed:\n%s", err, log)
	}
	var messages []int64
	for i, name := range []string{"sample/small-delta-0-seed-1", "sample/small-delta-1-seed-1"} {
		r, err := engine.Read(t.Context(), filepath.Join(folder, "results"), name)
		if err != nil || r == nil {
			t.Fatalf("%s: result %v, error %v", name, r, err)
		}
		train, test := r.Commands["train"], r.Commands["test"].Evaluation
		if tr := train.Training; tr.Epochs != 4 || len(tr.Curve) != 4 || tr.BestEpoch < 1 || len(tr.Weights) != 64 || tr.Curve[3].Valid == nil ||
			!(tr.Seconds > 0) {
			t.Errorf("%s: the training is %+v", name, tr)
		}
		if known := i == 1; (train.CPUSeconds > 0) != known { // that of the interrupted process is not
			t.Errorf("%s: the processor time is %v", name, train.CPUSeconds)
		}
		if test.ByDistance["1"].Queries == 0 || r.Commands["grail"].Evaluation.ByDistance != nil || r.Graph.Edges == 0 || r.Inputs["delta"] != fmt.Sprint(i) {
			t.Errorf("%s: %+v, %+v", name, r, test)
		}
		messages = append(messages, test.Messages)
	}
	if messages[0] >= messages[1] {
		t.Errorf("delta 0 and 1 send %d messages", messages)
	}
	if printed, err = call(t.Context(), list, "--state", state, "--plan"); err != nil || !strings.Contains(printed, "2 runs: 2 done, 0 stale, 0 missing") {
		t.Errorf("error %v\n%s", err, printed)
	}
	if printed, err = call(t.Context(), list, "--state", state, "--only", "small-delta-0*", "--verify"); err != nil ||
		!strings.Contains(printed, "every digit is that of the result") {
		t.Errorf("error %v\n%s", err, printed)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "list.json")
	if err := os.WriteFile(list, []byte(`{"entries": [{"name": "a", "what": "", "measure": "tagnet x", "count": 1, "unit": "facts"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		arguments string
		usage     bool
		want      string
	}{
		{"--threads 0", true, "--threads is 0"},
		{"--verify", true, "say with --only which"},
		{"--verify --only a --force", true, "leave --force and --plan out"},
		{"--only b", true, `--only: no run matches "b"; the closest are a`},
		{"--speed 3", true, "not defined"},
		{"more", true, "unexpected argument"},
	} {
		_, err := call(t.Context(), append([]string{list}, strings.Fields(c.arguments)...)...)
		if err == nil || errors.As(err, new(program.UsageError)) != c.usage || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.arguments, err, c.want)
		}
	}
	if _, err := call(t.Context(), list+"x"); err == nil || errors.As(err, new(program.UsageError)) {
		t.Errorf("a list that does not exist: error %v", err)
	}
	if printed, err := call(t.Context(), "-h"); !errors.Is(err, flag.ErrHelp) || !strings.Contains(printed, "go run ./infra/experiments [LIST] [flags]") {
		t.Errorf("-h: error %v, printed %s", err, printed)
	}
	if printed, err := call(t.Context(), list, "--plan"); err != nil || printed != "a  missing  \n1 runs: 0 done, 0 stale, 1 missing\n" {
		t.Errorf("--plan: error %v, printed %q", err, printed)
	}
}
