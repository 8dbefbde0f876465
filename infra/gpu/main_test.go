package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tagnet/infra/internal/program"
	"tagnet/model/engine/device"
	"tagnet/model/gpu/interpreter"
)

// ring returns a workspace with the graph of a ring, made by the command that users run. All entities answer
// one of its queries.
func ring(t *testing.T) string {
	t.Helper()
	const entities = 20
	folder, splits := t.TempDir(), map[string]string{}
	for i := range entities {
		splits["train"] += fmt.Sprintf("e%d\tnext\te%d\ne0\tall\te%d\n", i, (i+1)%entities, i)
		skip := fmt.Sprintf("e%d\tskip\te%d\n", i, (i+2)%entities)
		splits[[]string{"train", "train", "train", "valid", "test"}[i%5]] += skip
	}
	for split, facts := range splits {
		if err := os.WriteFile(filepath.Join(folder, split+".txt"), []byte(facts), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	workspace := filepath.Join(folder, "workspace")
	if out, err := exec.Command("go", "run", "-ldflags=-s -w", "tagnet/pipelines/preprocess", "--workspace", workspace,
		"--dataset", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return workspace
}

// inexact is a device whose kernel of the scores computes other ones.
type inexact struct{ device.Device }

func (d inexact) CopyOut(to []byte, from device.Pointer) error {
	err := d.Device.CopyOut(to, from)
	for i := 3; i < len(to); i += 4 {
		to[i] ^= 1 // of each float32, an exponent
	}
	return err
}

func TestRun(t *testing.T) {
	t.Parallel()
	workspace, small := ring(t), filepath.Join(t.TempDir(), "small.json")
	if err := os.WriteFile(small, []byte(`{"preset": "wn18rr", "layers": 2, "negatives": 4, "batch_size": 4}`), 0o600); err != nil {
		t.Fatal(err)
	}
	arguments := []string{"--workspace", workspace, "--preset", small, "--steps", "2", "--on_cpu", "2", "--queries", "8"}
	var out bytes.Buffer
	if err := run(t.Context(), arguments, &out, func(int) (device.Device, error) { return interpreter.New(), nil }, time.Now()); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, want := range []string{"losses of 2 steps are the CPU's", "\na step ", "\nan epoch ", "scores of 8 answers are the CPU's", "\na scored query "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	err := run(t.Context(), arguments, &out, func(int) (device.Device, error) { return inexact{interpreter.New()}, nil }, time.Now())
	if err == nil || !strings.Contains(err.Error(), "the CPU's") {
		t.Errorf("error %v of a device that computes other losses", err)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{
		{"--minutes", "0"}, {"--minutes", "NaN"}, {"--device", "cpu"}, {"--device", "cuda:all"}, {"--preset", "none"}, {"--preset", "wn18rr-astar"},
		{"--steps", "0"}, {"more"}, {"--none"},
	} {
		err := run(t.Context(), arguments, &bytes.Buffer{}, nil, time.Now())
		if !errors.As(err, new(program.UsageError)) {
			t.Errorf("%q: %v, want an error of usage", arguments, err)
		}
	}
}
