package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/lock"
	"tagnet/infra/experiments/internal/plan"
	"tagnet/infra/experiments/internal/tuning"
	"tagnet/infra/internal/program"
	"tagnet/model/configuration"
)

// tinySearch is a search over the sample whose trainings take some tenths of a second an epoch. One of its learning rates diverges.
const tinySearch = `{
  "name": "tiny", "dataset": %q,
  "flags": {"dim": 4, "layers": 2, "batch_size": 128, "valid_limit": 200},
  "space": {
    "negatives": {"integers": [2, 8]},
    "learning_rate": {"choices": [0.002, 0.02, 1e37]},
    "dropout": {"uniform": [0, 0.3]}
  },
  "candidates": 6, "rungs": [1, 2, 4], "keep_one_in": 2, "seed": 3
}`

// writeSearch writes a search file.
func writeSearch(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "search.json")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// minutes matches the times of a table of candidates.
var minutes = regexp.MustCompile(`(?m)^( +\d+ +(?:0\.\d{4}|diverged)) +[\d.]+ `)

// times matches other times.
var times = regexp.MustCompile(`"hours_used": [\d.]+|after \S+ of training`)

// comparable returns what a search printed or wrote without times, the lines of trainings, which have no order, and the name of the state.
func comparable(text, state string) string {
	var kept []string
	for _, line := range strings.Split(strings.ReplaceAll(text, state, "STATE"), "\n") {
		if !strings.HasPrefix(line, "candidate ") {
			kept = append(kept, line)
		}
	}
	text = minutes.ReplaceAllString(strings.Join(kept, "\n"), "$1 ")
	return regexp.MustCompile(` +`).ReplaceAllString(times.ReplaceAllString(text, ""), " ")
}

// searches makes a search with the real program, and then the same with interrupts, in another order and again: the results are equal.
func (b bench) searches(t *testing.T) {
	ctx, state := t.Context(), t.TempDir()
	file := writeSearch(t, fmt.Sprintf(tinySearch, b.dataset))
	search := "--search " + file + " --device cpu --cores 2"
	text, err := b.call(ctx, state, search+" --plan")
	if err != nil {
		t.Fatal(err)
	}
	contains(t, text, "tiny on sample: 6 to epoch 1, 3 to epoch 2, 2 to epoch 4\n", "candidate  learning_rate  dropout  negatives", "1e+37")
	if _, err := os.Stat(filepath.Join(state, "sample")); err == nil {
		t.Error("--plan wrote a workspace")
	}

	text, err = b.call(ctx, state, search)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	contains(t, text, "rung 1 of 3, epoch 1: 6 candidates, ", "diverged, 3 continue to epoch 2", "drops out: epoch 1, step ", "rung 3 of 3, epoch 4: 2 candidates",
		"\nbest: candidate ", " by epoch 4, after ", "wrote "+state+"/tiny.json\n", "next: go run ./infra/experiments --dataset "+b.dataset)
	found, err := os.ReadFile(filepath.Join(state, "tiny.json"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := configuration.ParsePreset("tiny.json", found)
	if err != nil || c.Dim != 4 || c.Epochs != 4 || c.LearningRate > 1 {
		t.Errorf("%v\n%s", err, found)
	}
	t.Run("the preset", func(t *testing.T) { // gives the weights of the best candidate
		workspace := filepath.Join(state, "sample")
		c := exec.Command(b.tagnet, "train", "--workspace", workspace, "--run", "found", "--preset", filepath.Join(state, "tiny.json"), "--valid_limit", "200", "--seed", "3", "--device", "cpu")
		if text, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		best := regexp.MustCompile(`best: candidate (\d+)`).FindStringSubmatch(text)[1]
		weights := func(run string) string {
			text, err := os.ReadFile(filepath.Join(workspace, "runs", run, "checkpoints/epoch-004.safetensors"))
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		if weights("found") != weights("tiny-candidate-"+best+"-seed-3") {
			t.Error("the weights differ")
		}
		if err := os.RemoveAll(filepath.Join(workspace, "runs/found")); err != nil {
			t.Fatal(err)
		}
	})
	if evaluations, err := filepath.Glob(filepath.Join(state, "sample/runs/*/evaluation")); err != nil || len(evaluations) > 0 {
		t.Errorf("the search evaluated: %v, %v", evaluations, err)
	}
	same := func(t *testing.T, other, again string) {
		t.Helper()
		if difference := cmp.Diff(comparable(text, state), comparable(again, other)); difference != "" {
			t.Errorf("the output differs:\n%s", difference)
		}
		preset, err := os.ReadFile(filepath.Join(other, "tiny.json"))
		if difference := cmp.Diff(comparable(string(found), state), comparable(string(preset), other)); err != nil || difference != "" {
			t.Errorf("the preset differs: %v\n%s", err, difference)
		}
	}
	t.Run("again", func(t *testing.T) {
		begun := time.Now()
		again, err := b.call(ctx, state, search)
		if err != nil {
			t.Fatal(err)
		}
		same(t, state, again)
		trained, err := filepath.Glob(filepath.Join(state, "sample/runs/*/training.jsonl"))
		if err != nil || len(trained) == 0 {
			t.Error(err)
		}
		for _, history := range trained {
			if info, err := os.Stat(history); err != nil || info.ModTime().After(begun) {
				t.Errorf("%s was written again, %v", history, err)
			}
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		state := t.TempDir()
		for _, trained := range []int{1, 3} {
			go interruptAt(ctx, filepath.Join(state, "sample/runs/*/training.jsonl"), trained)
			if text, err := b.call(ctx, state, strings.Replace(search, "--cores 2", "--cores 1", 1)); !errors.Is(err, context.Canceled) {
				t.Fatalf("error %v\n%s", err, text)
			}
		}
		text, err := b.call(ctx, state, search+" --hours 1e-9")
		if err != nil {
			t.Fatal(err)
		}
		contains(t, text, "the same command continues the search")
		again, err := b.call(ctx, state, search)
		if err != nil {
			t.Fatal(err)
		}
		same(t, state, again)
	})
	t.Run("killed", func(t *testing.T) { // which leaves its trainings behind
		other := t.TempDir()
		b.logged(t, state, other, "graph").Wait()
		left := b.logged(t, state, other, "tiny-candidate-0-seed-3")
		lock := filepath.Join(other, "sample/runs/tiny-candidate-0-seed-3/checkpoints", lock.FileName)
		for _, err := os.Stat(lock); err != nil; _, err = os.Stat(lock) {
			time.Sleep(time.Millisecond)
		}
		left.Process.Signal(syscall.SIGSTOP)
		continues := whenSaid{text: "being trained by another process", then: func() {
			left.Process.Signal(syscall.SIGCONT)
			go left.Wait()
		}}
		if err := run(ctx, append(strings.Fields(search), "--state", other, "--tagnet", b.tagnet), &continues, &continues); err != nil || continues.then != nil {
			t.Fatalf("%v\n%s", err, continues.String())
		}
		same(t, other, continues.String())
	})
	t.Run("another search by the same name", func(t *testing.T) {
		changed := writeSearch(t, strings.Replace(fmt.Sprintf(tinySearch, b.dataset), "[0, 0.3]", "[0, 0.4]", 1))
		text, err := b.call(ctx, state, strings.Replace(search, file, changed, 1))
		if err == nil || !strings.Contains(err.Error(), "the checkpoints have dropout ") || !strings.Contains(err.Error(), "give the search another name") {
			t.Errorf("error %v\n%s", err, text)
		}
	})
}

// logged starts the first command of a log again, in another state.
func (b bench) logged(t *testing.T, state, other, log string) *exec.Cmd {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(state, "logs/sample", log+".log"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(strings.ReplaceAll(string(text), state, other), "\n")
	_, words, _ := strings.Cut(line, ": tagnet ")
	c := exec.Command(b.tagnet, strings.Fields(words)...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	return c
}

// whenSaid is a writer that keeps the text written to it and calls then once the text contains another one.
type whenSaid struct {
	strings.Builder
	mu   sync.Mutex
	text string
	then func()
}

// Write keeps a text.
func (w *whenSaid) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.Builder.Write(text)
	if w.then != nil && strings.Contains(w.String(), w.text) {
		w.then()
		w.then = nil
	}
	return n, err
}

// interruptAt interrupts this process when there are so many files that a pattern matches.
func interruptAt(ctx context.Context, pattern string, files int) {
	for ctx.Err() == nil {
		if found, err := filepath.Glob(pattern); err == nil && len(found) >= files {
			syscall.Kill(os.Getpid(), syscall.SIGTERM)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func TestMistakesOfSearches(t *testing.T) {
	t.Parallel()
	whole := fmt.Sprintf(tinySearch, "umls")
	for name, c := range map[string]struct{ from, to, want string }{
		"unknown key":       {`"seed": 3`, `"sede": 3`, `9:58: unknown key "sede"; the closest are seed`},
		"unknown flag":      {`"dim": 4`, `"dims": 4`, "1:1: tiny-candidate-0 on umls: train has no flag --dims"},
		"flag and range":    {`"dim": 4`, `"dropout": 0.1`, "3:13: dropout is in space, too"},
		"epochs":            {`"dim": 4`, `"epochs": 4`, "3:13: epochs are those of the last rung"},
		"range":             {`[0, 0.3]`, `[0.3, 0]`, "7:5: dropout: uniform: want two bounds, the smaller one first"},
		"kind of the range": {`{"integers": [2, 8]}`, `{"uniform": [2, 8]}`, "5:5: negatives: it is a whole number"},
		"rungs":             {`[1, 2, 4]`, `[1, 1]`, "9:33: rungs has 1"},
		"name":              {`"tiny"`, `"Tiny search"`, "1:1: the name"},
		"preset":            {`"dataset"`, `"preset": "wn-v9", "dataset"`, "1:1: tiny-candidate-0 on umls: unknown preset"},
	} {
		file := writeSearch(t, strings.Replace(whole, c.from, c.to, 1))
		_, err := readSearch(t.Context(), file)
		if err == nil || !strings.HasPrefix(err.Error(), file+":"+c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
	for arguments, want := range map[string]string{
		"--search s.json --dataset umls": "leave FILE, --dataset",
		"file.json --search s.json":      "leave FILE, --dataset",
		"--search s.json --only x":       "--only",
		"--search " + writeSearch(t, fmt.Sprintf(tinySearch, "umsl")) + " --plan": `dataset "umsl" is neither a folder nor a file nor a dataset of the catalog; closest is "umls"`,
		"--search s.json --vary delta=1,2":                                        "--vary belongs to a sweep",
		"--found f.json":                                                          "add --search FILE",
	} {
		err := run(t.Context(), strings.Fields(arguments), &strings.Builder{}, &strings.Builder{})
		if !errors.As(err, new(program.UsageError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", arguments, err, want)
		}
	}
}

// TestNextOfASearchNamesTheInferenceGraph checks the command that follows a search on two graphs, and the provenance of its preset.
func TestNextOfASearchNamesTheInferenceGraph(t *testing.T) {
	var out strings.Builder
	found := filepath.Join(t.TempDir(), "found.json")
	s := &session{options: options{found: found, state: "my state"}, out: &out}
	for inference, want := range map[string][2]string{
		"":         {"next: go run ./infra/experiments --dataset facts --preset " + found + " --name tiny --seeds 1..3 --state 'my state'\n", `"dataset": "facts",` + "\n    \"flags\""},
		"facts_in": {"next: go run ./infra/experiments --dataset facts --inference facts_in --preset " + found + " --name tiny", `"inference": "facts_in",`},
	} {
		out.Reset()
		f := searchFile{Name: "tiny", Dataset: plan.Dataset{Dataset: "facts", Inference: inference}, Search: tuning.Search{Rungs: []int{1}}}
		best := tuning.Entry{Candidate: tuning.Candidate{Configuration: configuration.Default()}}
		if err := s.writePreset(t.Context(), f, tuning.Result{Rungs: []tuning.Rung{{Epochs: 1}}, Best: best}); err != nil {
			t.Fatal(err)
		}
		contains(t, out.String(), want[0])
		text, err := os.ReadFile(found)
		if err != nil {
			t.Fatal(err)
		}
		contains(t, string(text), want[1])
	}
}
