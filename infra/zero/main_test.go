package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/storage/lock"
	"tagnet/infra/internal/program"
	"tagnet/model/graph/synthetic"
	"tagnet/model/weights/checkpoint"
)

// workspaces returns two workspaces with graphs, made by the command that users run.
func workspaces(t *testing.T) (one, other string) {
	t.Helper()
	root := t.TempDir()
	for seed := range int64(2) {
		data := filepath.Join(root, fmt.Sprintf("data-%d", seed))
		if err := synthetic.Samples()[0].Write(t.Context(), data, seed); err != nil {
			t.Fatal(err)
		}
		workspace := filepath.Join(root, fmt.Sprintf("families-%d", seed))
		if text, err := exec.Command("go", "run", "-ldflags=-s -w", "tagnet/pipelines/preprocess", "--workspace", workspace,
			"--dataset", data).CombinedOutput(); err != nil {
			t.Fatalf("preprocess: %v\n%s", err, text)
		}
	}
	return filepath.Join(root, "families-0"), filepath.Join(root, "families-1")
}

// canceling cancels a run when it prints a text.
type canceling struct {
	bytes.Buffer
	at     string
	cancel func()
}

func (c *canceling) Write(text []byte) (int, error) {
	n, err := c.Buffer.Write(text)
	if strings.Contains(c.String(), c.at) {
		c.cancel()
	}
	return n, err
}

// TestInterruptedTrainingEndsInTheSameBytes trains on two graphs and made ones, in one go, and with an interrupt
// in the second epoch.
func TestInterruptedTrainingEndsInTheSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds preprocess")
	}
	one, other := workspaces(t)
	preset := filepath.Join(t.TempDir(), "small.json")
	const configuration = `{"preset": "zero", "layers": 3, "dim": 8, "relation_layers": 2, "negatives": 8, "epochs": 2}`
	if err := os.WriteFile(preset, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := func(workspace string, more ...string) []string {
		return append([]string{
			"--workspace", workspace, "--graphs", one + ",made," + other, "--validate_graphs", one, "--preset", preset,
			"--epoch_steps", "12", "--made_steps", "2", "--valid_limit", "50", "--threads", "1",
		}, more...)
	}
	whole, parted := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "parted")
	var printed bytes.Buffer
	if err := run(t.Context(), flags(whole), &printed, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"epoch 2 of 2: loss 0.", ", families-0 0.", ", families-1 0.", ", made 0.", "; validation MRR 0.", "best: epoch-00"} {
		if !strings.Contains(printed.String(), want) {
			t.Errorf("no %q is printed:\n%s", want, printed.String())
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := run(ctx, flags(parted), &canceling{at: "epoch 1 of 2", cancel: cancel}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Fatalf("an interrupted training: %v", err)
	}
	if err := run(t.Context(), flags(parted), io.Discard, io.Discard); !errors.As(err, new(program.UsageError)) ||
		!strings.Contains(err.Error(), "add --resume") {
		t.Errorf("the same command without --resume: %v", err)
	}
	beside, err := lock.Acquire(t.Context(), string(checkpoint.FolderOf(parted, checkpoint.DefaultRun)), "another training", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), flags(parted, "--resume"), io.Discard, io.Discard); !errors.As(err, new(*lock.Held)) {
		t.Errorf("beside another training into the same folder: %v, want *lock.Held", err)
	}
	if err := beside.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	printed.Reset()
	if err := run(t.Context(), flags(parted, "--resume"), &printed, io.Discard); err != nil || !strings.HasPrefix(printed.String(), "resuming from ") {
		t.Fatalf("with --resume: %v\n%s", err, printed.String())
	}
	for _, ending := range []string{".json", ".safetensors", ".optimizer.safetensors"} {
		name := filepath.Join(string(checkpoint.FolderOf("", checkpoint.DefaultRun)), checkpoint.EpochName(2)+ending)
		want, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(parted, name)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s of the interrupted training differs from that of the other: %v", name, err)
		}
	}
	if err := run(t.Context(), flags(parted, "--resume", "--made_share", "0.5"), io.Discard, io.Discard); err == nil {
		t.Error("a training resumed with other shares")
	}
	startsFrom(t, checkpoint.FolderOf(whole, checkpoint.DefaultRun), flags)
}

// startsFrom trains the second epoch of a folder further, and reads where the new checkpoints say that they come from.
func startsFrom(t *testing.T, folder checkpoint.Folder, flags func(workspace string, more ...string) []string) {
	t.Helper()
	further := filepath.Join(t.TempDir(), "further")
	weights := filepath.Join(string(folder), checkpoint.EpochName(2)+".safetensors")
	if err := run(t.Context(), flags(further, "--from", weights, "--preset", "zero"), io.Discard, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "of another model") {
		t.Errorf("weights of 8 dimensions, to be trained with 32: %v", err)
	}
	if err := run(t.Context(), flags(further, "--from", weights), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	from, err := folder.Record(t.Context(), checkpoint.EpochName(2))
	if err != nil {
		t.Fatal(err)
	}
	got, err := checkpoint.FolderOf(further, checkpoint.DefaultRun).Record(t.Context(), checkpoint.EpochName(1))
	if err != nil {
		t.Fatal(err)
	}
	if got.Origin == nil || got.Origin.SHA256 != from.Weights.SHA256 {
		t.Errorf("the first epoch says that it comes from %v, want weights %s", got.Origin, from.Weights.SHA256)
	}
	if got.Start == nil || got.Start.Pessimistic != from.Valid.Pessimistic {
		t.Errorf("before the first step validation says %v, want %v", got.Start, from.Valid)
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	w := t.TempDir()
	for arguments, want := range map[string]string{
		"--graphs made":                                                   "--workspace and --graphs are needed",
		"--workspace " + w + " --graphs a,b/a":                            "two graphs would be named a",
		"--workspace " + w + " --graphs made,./made":                      "two graphs would be named made",
		"--workspace " + w + " --graphs made --preset wn18rr":             "relations have to be graph",
		"--workspace " + w + " --graphs made --graph_exponent NaN":        "--graph_exponent is NaN: want 0 to 10",
		"--workspace " + w + " --graphs made --epoch_steps 0":             "steps is 0, want 1 or more",
		"--workspace " + w + " --graphs made --made_share 1":              "--made_share is 1: want more than 0 and less than 1",
		"--workspace " + w + " --graphs made --valid_limit -1":            "--valid_limit is -1: want 0 or more",
		"--workspace " + w + " --graphs made --threads -3":                "--threads is -3: want 0 or more",
		"--workspace " + w + " --graphs made --checkpoint_minutes NaN":    "--checkpoint_minutes is NaN: want 0 to 10",
		"--workspace " + w + " --graphs made --made_classes 2":            "classes is 2: want 0 to 1",
		"--workspace " + w + " --graphs made --from absent.safetensors":   "--from: ",
		"--workspace " + w + " --graphs made --from zero --resume":        "--from is where a training begins: leave it out",
		"--workspace " + w + " --graphs made --made_steps 0":              "made.steps is 0, want 1 or more",
		"--workspace " + w + " --graphs made --validate_graphs " + w:      "manifest.json",
		"--workspace " + w + " --graphs " + filepath.Join(w, "absent"):    "manifest.json",
		"--workspace " + w + " --graphs made --preset zero --no_flag yes": "-h lists the flags",
	} {
		if err := run(t.Context(), strings.Fields(arguments), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", arguments, err, want)
		}
	}
}
