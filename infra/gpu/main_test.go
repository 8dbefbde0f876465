package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/infra/internal/program"
	"tagnet/model/checkpoint"
	"tagnet/model/gpu"
	"tagnet/model/gpu/kernels"
	"tagnet/model/ultra"
)

// ring returns a workspace with the graph of a ring, made by the command that users run.
var ring = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "gpu")
	if err != nil {
		return "", err
	}
	const entities = 20
	splits := map[string]string{}
	for i := range entities {
		splits["train"] += fmt.Sprintf("e%d\tnext\te%d\n", i, (i+1)%entities)
		skip := fmt.Sprintf("e%d\tskip\te%d\n", i, (i+2)%entities)
		splits[[]string{"train", "train", "train", "valid", "test"}[i%5]] += skip
	}
	for split, facts := range splits {
		if err := os.WriteFile(filepath.Join(folder, split+".txt"), []byte(facts), 0o644); err != nil {
			return folder, err
		}
	}
	workspace := filepath.Join(folder, "workspace")
	if out, err := exec.Command("go", "run", "tagnet/pipelines/preprocess", "--workspace", workspace, "--dataset", folder).CombinedOutput(); err != nil {
		return folder, errors.New(string(out))
	}
	return workspace, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if folder, _ := ring(); folder != "" {
		_ = os.RemoveAll(filepath.Dir(folder))
	}
	os.Exit(code)
}

// running runs the command on the ring, with a clock that advances by a second each time that it is read.
func running(t *testing.T, arguments ...string) string {
	t.Helper()
	workspace, err := ring()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Unix(1000, 0)
	at := start
	now := func() time.Time {
		at = at.Add(time.Second)
		return at
	}
	var out bytes.Buffer
	all := append([]string{"--workspace", workspace, "--device", "interpreter", "--preset", "wn18rr", "--epochs", "2", "--batch_size", "4", "--skip_verify"}, arguments...)
	if err := run(t.Context(), all, &out, now, start); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return out.String()
}

// TestResumedTrainingEndsInTheSameBytes lets the time run out again and again, each time after some steps.
func TestResumedTrainingEndsInTheSameBytes(t *testing.T) {
	t.Parallel()
	whole := t.TempDir()
	text := running(t, "--skip_measure", "--minutes", "1000", "--out", whole)
	if !strings.Contains(text, "trained up to epoch-002") || !strings.Contains(text, "test of epoch-00") {
		t.Fatalf("the training is not complete:\n%s", text)
	}
	unpack := func(folder string) map[string]string {
		to := t.TempDir()
		if err := (archive{folder: folder}).unpack(t.Context(), checkpoint.Folder(to), filepath.Join(t.TempDir(), historyFile)); err != nil {
			t.Fatal(err)
		}
		return files(t, to)
	}
	last, inside := "", 0
	for runs := 0; ; runs++ {
		out := t.TempDir()
		arguments := []string{"--skip_measure", "--minutes", "0.37", "--out", out}
		if last != "" {
			arguments = append(arguments, "--resume", last)
		}
		text := running(t, arguments...)
		if strings.Contains(text, "trained up to step-") {
			inside++
		}
		if last = out; strings.Contains(text, "trained up to epoch-002") {
			break
		}
		if runs == 12 {
			t.Fatalf("no end:\n%s", text)
		}
	}
	if inside < 2 {
		t.Errorf("the time ran out %d times inside an epoch", inside)
	}
	got, want := unpack(last), unpack(whole)
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs", name)
		}
	}
	if n := len(files(t, last)); n > 8 {
		t.Errorf("%d files in --out", n)
	}
	workspace := t.TempDir()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"--join", last, "--workspace", workspace}, &out, time.Now, time.Now()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, files(t, string(checkpoint.FolderOf(workspace, checkpoint.DefaultRun)))); diff != "" {
		t.Error(diff)
	}
	if data, err := os.ReadFile(filepath.Join(workspace, "runs/main", historyFile)); err != nil || bytes.Count(data, []byte("\n")) != 2 {
		t.Errorf("the joined history is %s, %v, want 2 lines", data, err)
	}
}

// TestMeasured checks measured.json of a run that measures only.
func TestMeasured(t *testing.T) {
	t.Parallel()
	for _, preset := range []string{"wn18rr", "zero"} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			checkMeasured(t, preset)
		})
	}
}

func checkMeasured(t *testing.T, preset string) {
	t.Helper()
	out := t.TempDir()
	running(t, "--preset", preset, "--batch_size", "1", "--skip_training", "--steps", "2", "--out", out)
	var m measured
	if err := json.Unmarshal([]byte(files(t, out)["measured.json"]), &m); err != nil {
		t.Fatal(err)
	}
	if m.Training == nil || m.Scoring == nil {
		t.Fatalf("%+v", m)
	}
	if !(m.Training.Ahead > 0) {
		t.Errorf("steps that are prepared ahead are not measured: %+v", m.Training)
	}
	for _, timing := range []*timing{m.Training, m.Scoring} {
		if !(timing.Microseconds > 0 && timing.Messages > 20 && timing.Rows > 20 && timing.Launches > 0) {
			t.Errorf("%+v", timing)
		}
		for _, p := range timing.Phases {
			if !(p.Bytes > 0) && p.Phase != "embeddings" || !(p.Microseconds > 0) {
				t.Errorf("phase %s takes %g us and %g bytes", p.Phase, p.Microseconds, p.Bytes)
			}
		}
	}
}

// TestPublished holds that devices compute the configuration of ULTRA's published weights.
func TestPublished(t *testing.T) {
	t.Parallel()
	c, err := options{preset: published, batchSize: 2}.configuration()
	want := ultra.Configuration()
	want.BatchSize = 2
	if diff := cmp.Diff(want, c); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if err := gpu.Supports(c); err != nil {
		t.Error(err)
	}
}

// TestPhasesHaveAllKernels holds that each kernel counts in one phase.
func TestPhasesHaveAllKernels(t *testing.T) {
	t.Parallel()
	var listed, want []string
	for _, p := range phases {
		listed = append(listed, p.kernels...)
	}
	for _, source := range kernels.Sources {
		ptx, err := kernels.Source(source, 32)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, kernels.Entries(ptx)...)
	}
	slices.Sort(listed)
	slices.Sort(want)
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Error(diff)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{
		{"--minutes", "0"}, {"--minutes", "NaN"}, {"--device", "cpu"}, {"--preset", "none"}, {"--score", "train"}, {"--steps", "0"}, {"more"}, {"--none"},
	} {
		err := run(t.Context(), append([]string{"--out", t.TempDir()}, arguments...), &bytes.Buffer{}, time.Now, time.Now())
		if !errors.As(err, new(program.UsageError)) {
			t.Errorf("%q: %v, want an error of usage", arguments, err)
		}
	}
}

// TestOutKeepsACheckpoint holds that a run does not replace the checkpoint of another training.
func TestOutKeepsACheckpoint(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	if err := os.WriteFile(filepath.Join(out, indexFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := run(t.Context(), []string{"--out", out}, &bytes.Buffer{}, time.Now, time.Now())
	if err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("error %v", err)
	}
}
