package train

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
)

// fittedOf returns the path of the only file of probabilities of a workspace. The lock file of a run that was killed
// may be beside it.
func fittedOf(t *testing.T, workspace string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(workspace, answer.ProbabilitiesFolder, "[0-9a-f]*.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q, %v, want one file", found, err)
	}
	return found[0]
}

// TestFit checks that a training ends with probabilities, and that --resume makes those that are missing, in the same
// bytes with any number of threads, and changes no checkpoint.
func TestFit(t *testing.T) {
	w := finished(t)
	name := fittedOf(t, w)
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := probability.Parse(name, want); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(w, "runs/main/checkpoints")
	checkpoints := pipelinetest.Files(t, folder)
	for what, leave := range map[string]func(){
		"missing": func() { pipelinetest.Remove(t, name) },
		"unfinished": func() {
			pipelinetest.Remove(t, name)
			pipelinetest.Remove(t, filepath.Join(folder, "manifest.json"))
		},
	} {
		leave()
		code, out, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--resume", "--threads", "3")
		if code != 0 {
			t.Fatalf("%s: %d, %s%s", what, code, out, stderr)
		}
		if !strings.Contains(out, "probabilities presume that 5.0% of the facts are missing") || !strings.Contains(out, "wrote "+name) {
			t.Errorf("%s:\n%s", what, out)
		}
		if strings.Contains(stderr, "epoch 4 of 4") {
			t.Errorf("%s: it trains again:\n%s", what, stderr)
		}
		if got := pipelinetest.Read(t, name); got != string(want) {
			t.Errorf("%s: other bytes", what)
		}
		pipelinetest.Same(t, pipelinetest.Files(t, folder), checkpoints)
	}
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--resume")
	if !strings.Contains(out, "is complete") || strings.Contains(out, "wrote ") {
		t.Errorf("nothing is missing:\n%s", out)
	}
}

// TestDamagedProbabilities checks that a damaged file is refused with what helps, and that no checkpoint goes.
func TestDamagedProbabilities(t *testing.T) {
	w := finished(t)
	name, checkpoints := fittedOf(t, w), filepath.Join(w, "runs/main/checkpoints")
	want := pipelinetest.Files(t, checkpoints)
	pipelinetest.Write(t, name, "{}")
	code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--resume")
	if code == 0 || !strings.Contains(stderr, name) || !strings.Contains(stderr, "remove this file, and it is made again") {
		t.Errorf("%d, %s", code, stderr)
	}
	pipelinetest.Same(t, pipelinetest.Files(t, checkpoints), want)
}

// TestDryRunOfAFit checks that --resume of a training that lacks only its probabilities shows the job that fits them.
func TestDryRunOfAFit(t *testing.T) {
	w := finished(t)
	pipelinetest.Remove(t, fittedOf(t, w))
	pipelinetest.DryRun(t, Pipeline(), w, "/predict.fitFn", "--resume")
	pipelinetest.Plan(t, Pipeline(), w, "step       predict.observe: ", "--resume")
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitUsage, Says: []string{"--memory", "at least"}},
		"--workspace", w, "--resume", "--memory", "100")
}

// TestGraphReplacedMeanwhile replaces the graph after the first epoch, by one with other facts and by one that lacks a
// relation: the training ends with its checkpoints and without probabilities.
func TestGraphReplacedMeanwhile(t *testing.T) {
	lacking := pipelinetest.Ring("e", 40)
	lacking["train.txt"] = regexp.MustCompile("(?m)^.*\tback\t.*\n").ReplaceAllString(lacking["train.txt"], "")
	for name, files := range map[string]map[string]string{"facts": pipelinetest.Ring("e", 41), "relation": lacking} {
		t.Run(name, func(t *testing.T) {
			w, other := prepared(t, pipelinetest.Dataset(t, pipelinetest.Ring("e", 40))), prepared(t, pipelinetest.Dataset(t, files))
			replaced := make(chan error)
			go func() {
				for t.Context().Err() == nil {
					if _, err := os.Stat(filepath.Join(w, "runs/main/checkpoints/epoch-001.json")); err == nil {
						break
					}
					time.Sleep(time.Millisecond)
				}
				replaced <- errors.Join(os.Rename(filepath.Join(w, "graph"), filepath.Join(w, "earlier")),
					os.Rename(filepath.Join(other, "graph"), filepath.Join(w, "graph")))
			}()
			out := pipelinetest.Succeed(t, Pipeline(), small(w, "--epochs", "15")...)
			if err := <-replaced; err != nil {
				t.Fatal(err)
			}
			want := filepath.Join(w, "graph") + " was replaced meanwhile: the checkpoints are complete, and no probabilities were fitted"
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
			for file := range pipelinetest.Files(t, filepath.Join(w, answer.ProbabilitiesFolder)) {
				t.Errorf("there is %s", file)
			}
			if pipelinetest.Read(t, w, "runs/main/checkpoints/manifest.json") == "" {
				t.Error("the checkpoints are not complete")
			}
		})
	}
}
