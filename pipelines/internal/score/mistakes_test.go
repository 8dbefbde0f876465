package score

import (
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/storage/lock"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/scoring/scoringtest"
)

// Each mistake ends with its code, one line that says what and where, and no output.
func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, workspace string) []string // returns flags
		code  int
		want  []string
	}{
		"no workspace": {func(t *testing.T, w string) []string { return []string{"--workspace", w + "-absent"} }, 1,
			[]string{"run go run ./pipelines/preprocess"}},
		"no training": {func(t *testing.T, w string) []string {
			pipelinetest.Remove(t, w, "runs/main/checkpoints")
			return []string{"--run", "main"} // without it, zero answers
		}, 1, []string{"no checkpoint", "run go run ./pipelines/train"}},
		"first epoch": {func(t *testing.T, w string) []string {
			pipelinetest.Remove(t, w, "runs/main/checkpoints")
			pipelinetest.Write(t, filepath.Join(w, "runs/main/checkpoints", lock.FileName), `{"host":"elsewhere","process":7,"token":"x"}`)
			return nil
		}, 1, []string{"no checkpoint", "a training is running (process 7 on host elsewhere", "wait for its first epoch"}},
		"no such epoch":  {flagsOnly("--model", "9"), 1, []string{"epoch-009", "epoch-003"}},
		"no such split":  {flagsOnly("--split", "dev"), 2, []string{"--split", "dev"}},
		"no memory":      {flagsOnly("--memory", "0"), 2, []string{"--memory is 0"}},
		"little memory":  {flagsOnly("--memory", "9", "--threads", "7"), 2, []string{"--memory 9 is too small", "takes at least", "7 threads"}},
		"negative top_k": {flagsOnly("--top_k", "-1"), 2, []string{"--top_k is -1: want 0 or more"}},
		"negative limit": {flagsOnly("--limit", "-1"), 2, []string{"--limit is -1: want 0 or more"}},
		"no such kernel": {flagsOnly("--kernel", "cuda9"), 2, []string{"--kernel", "cuda9"}},
		"device":         {flagsOnly("--device", "gpu"), 2, []string{"--device is \"gpu\": want auto, cpu"}},
		"no such device": {flagsOnly("--device", "cuda:999"), 1, []string{"--device cuda:999: ", "no CUDA d"}},
		"no such flag":   {flagsOnly("--topk", "1"), 2, []string{"--topk", "--top_k"}},
		"checkpoint cut": {damage("runs/main/checkpoints/epoch-003.safetensors", pipelinetest.Cut), 1,
			[]string{"epoch-003.safetensors", "damaged", "--model"}},
		"checkpoint flipped": {damage("runs/main/checkpoints/epoch-003.safetensors", pipelinetest.Flip), 1, []string{"epoch-003.safetensors", "damaged"}},
		"record cut":         {damage("runs/main/checkpoints/epoch-003.json", pipelinetest.Cut), 1, []string{"epoch-003.json", "damaged"}},
		"record flipped":     {damage("runs/main/checkpoints/epoch-003.json", pipelinetest.Flip), 1, []string{"epoch-003.json", "damaged"}},
		"training flipped": {damage("runs/main/checkpoints/manifest.json", pipelinetest.Flip), 1,
			[]string{"runs/main/checkpoints/manifest.json", "go run ./pipelines/train"}},
		"best damaged":     {damage("runs/main/checkpoints/best", pipelinetest.Flip), 1, []string{"runs/main/checkpoints/best"}},
		"graph cut":        {damage("graph/answers.arrow", pipelinetest.Cut), 1, []string{"answers.arrow", "go run ./pipelines/preprocess"}},
		"graph flipped":    {damage("graph/queries-test.arrow", pipelinetest.Flip), 1, []string{"queries-test.arrow", "go run ./pipelines/preprocess"}},
		"manifest cut":     {damage("graph/manifest.json", pipelinetest.Cut), 1, []string{"manifest.json", "go run ./pipelines/preprocess"}},
		"manifest flipped": {damage("graph/manifest.json", pipelinetest.Flip), 1, []string{"manifest.json", "go run ./pipelines/preprocess"}},
		"other relations": {func(t *testing.T, w string) []string {
			folder := pipelinetest.Dataset(t, pipelinetest.RenamedRing("e", 60, "after", "before", "over"))
			pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", folder, "--force")
			return nil
		}, 1, []string{`the model does not know 3 of the graph's relations ("after", "before", "over")`, "train --workspace", "--model zero"}},
		"other configuration": {func(t *testing.T, w string) []string {
			pipelinetest.Succeed(t, Pipeline(), "--workspace", w)
			return []string{"--top_k", "3"}
		}, 1, []string{"top_k is 10 there, 3 here", "--top_k 3 --force"}},
		"no queries": {func(t *testing.T, w string) []string {
			folder := pipelinetest.Dataset(t, pipelinetest.Ring("e", 60))
			pipelinetest.Write(t, folder+"/test.txt", "no fact\n")
			pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", folder, "--force", "--on_bad_line", "reject")
			return nil
		}, 1, []string{"test", "no queries"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := scoringtest.Trained(t, "plain")
			arguments := append([]string{"--workspace", w}, c.spoil(t, w)...)
			before := pipelinetest.Files(t, filepath.Join(w, "runs/main/evaluation"))
			code, _, stderr := pipelinetest.Run(t, Pipeline(), arguments...)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("no %q in %q", want, stderr)
				}
			}
			if n := strings.Count(strings.TrimSpace(stderr), "\n"); n != 0 || strings.Contains(stderr, "goroutine") {
				t.Errorf("%d lines: %q", n+1, stderr)
			}
			pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(w, "runs/main/evaluation")), before)
		})
	}
}

func flagsOnly(flags ...string) func(*testing.T, string) []string {
	return func(*testing.T, string) []string { return flags }
}

// damage damages a file and names the last epoch, which need not be the best.
func damage(file string, spoil func(testing.TB, ...string)) func(*testing.T, string) []string {
	return func(t *testing.T, w string) []string {
		t.Helper()
		spoil(t, w, file)
		if strings.HasSuffix(file, "best") {
			return nil
		}
		return []string{"--model", "3"}
	}
}

// TestTakenOver checks that a run that lost its folder to another one writes nothing there.
func TestTakenOver(t *testing.T) {
	pipelinetest.TakenOver(t, Pipeline(), scoringtest.Trained(t, "plain"), "runs/main/evaluation/test", "--device", "cpu")
}
