package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/input/datasets"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/results"
	"tagnet/infra/experiments/internal/engine"
	"tagnet/infra/internal/program"
)

// tiny are hyperparameters with which a training of the sample takes half a second.
const tiny = "--dim 4 --layers 2 --negatives 4 --batch_size 128 --epochs 2 --device cpu"

// bench holds the paths of a built tagnet and of a sample dataset, which the tests share.
type bench struct{ tagnet, dataset string }

// build builds tagnet, whose processes this command starts, interrupts and resumes. Building takes most of the time of these tests.
func build(t *testing.T) bench {
	t.Helper()
	if testing.Short() {
		t.Skip("builds tagnet")
	}
	folder := t.TempDir()
	b := bench{filepath.Join(folder, "tagnet"), filepath.Join(folder, "sample")}
	built, err := engine.Build(t.Context(), b.tagnet)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("../../.git"); err == nil && len(built.Commit) != 40 {
		t.Errorf("the program is of commit %q", built.Commit)
	}
	if err := datasets.Samples()[0].Write(t.Context(), b.dataset, 1); err != nil {
		t.Fatal(err)
	}
	return b
}

// call runs the command in a state and returns what it printed on both outputs.
func (b bench) call(ctx context.Context, state, arguments string) (string, error) {
	var printed strings.Builder
	all := append(strings.Fields(arguments), "--state", state, "--tagnet", b.tagnet)
	err := run(ctx, all, &printed, &printed)
	return printed.String(), err
}

func contains(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestRuns makes sweeps with the real program. Its subtests share the program but not their states.
func TestRuns(t *testing.T) {
	b := build(t)
	t.Run("a sweep", b.sweep)
	t.Run("an interrupt", b.interrupt)
	t.Run("failures", b.failures)
}

// sweep makes two deltas with two seeds, finds nothing to do afterwards, evaluates what the plan has in addition, notices what is stale, and repeats a run.
func (b bench) sweep(t *testing.T) {
	ctx, state := t.Context(), t.TempDir()
	flags := "--dataset " + b.dataset + " " + tiny + " --vary delta=0..1 --seeds 1..2 --threads 1"
	plan := flags + " --plan"
	text, err := b.call(ctx, state, plan)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, text, "sample/sweep-delta-0-seed-1  missing", "4 runs: 4 missing")
	text, err = b.call(ctx, state, flags)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, text, "sample/sweep-delta-0-seed-1: MRR 0.", "sample/sweep-delta-1-seed-2: MRR 0.", "4 of 4 runs are done", "Hits@10", " ± ")
	all, err := results.ReadAll(ctx, filepath.Join(state, "results"))
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 4 {
		t.Fatalf("%d results", len(all))
	}
	r := all[0]
	e := r.Evaluation[results.TestProtocol]
	if r.Varied["delta"] != "0" || r.Training.Epochs != 2 || r.Training.CPUSeconds <= 0 || e.Seconds <= 0 || r.Machine.Threads != 1 || r.Graph == "" {
		t.Errorf("%+v", r)
	}
	if e.ByDistance["1"].Queries == 0 { // results.Write checked their sum
		t.Errorf("by distance: %+v", e.ByDistance)
	}
	summary, err := counts.ReadDataset(ctx, filepath.Join(state, "sample/graph"))
	if want := e.Distinct * 2 * summary.Edges; err != nil || e.NBFNetMessages != want || e.Messages >= want {
		t.Errorf("%d messages, NBFNet %d: want %d (%v)", e.Messages, e.NBFNetMessages, want, err)
	}
	if first, second := e.Pessimistic, all[1].Evaluation[results.TestProtocol].Pessimistic; first == second {
		t.Error("two seeds have the same metrics")
	}

	text, err = b.call(ctx, state, plan)
	if err != nil {
		t.Fatal(err)
	}
	contains(t, text, "4 runs: 4 done")
	if text, err = b.call(ctx, state, flags); err != nil || strings.Contains(text, "seed-1: MRR") {
		t.Errorf("error %v, runs made again:\n%s", err, text)
	}

	t.Run("lost results are collected", func(t *testing.T) {
		lost := filepath.Join(state, "results", all[0].Path())
		if err := os.Remove(lost); err != nil {
			t.Fatal(err)
		}
		text, err := b.call(ctx, state, flags+" --collect")
		if err != nil {
			t.Fatal(err)
		}
		contains(t, text, "1 result collected", "4 of 4 are done")
		again, err := results.Read(ctx, lost)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(collected(all[0]), again); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a training of another program, on two devices", func(t *testing.T) {
		other := t.TempDir()
		if err := os.CopyFS(filepath.Join(other, "sample"), os.DirFS(filepath.Join(state, "sample"))); err != nil {
			t.Fatal(err)
		}
		one := flags + " --only *-delta-0-seed-1"
		history := filepath.Join(other, "sample/runs/sweep-delta-0-seed-1/training.jsonl")
		epochs, err := os.ReadFile(history)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(history, []byte(strings.Replace(string(epochs), `"kernel":"`+r.Kernels[0], `"kernel":"cuda`, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		if text, err := b.call(ctx, other, one+" --collect"); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		got, err := results.Read(ctx, filepath.Join(other, "results", r.Path()))
		if err != nil {
			t.Fatal(err)
		}
		want := collected(r)
		want.Kernels, want.Machine.Device = []string{"cuda", r.Kernels[0]}, "cuda"
		want.Training.Curve = slices.Clone(r.Training.Curve)
		want.Training.Curve[0].Kernel = "cuda"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if _, err := b.call(ctx, other, strings.Replace(one, "--device cpu", "", 1)+" --verify"); err == nil || !strings.Contains(err.Error(), "by several kernel variants, cuda and ") {
			t.Errorf("verifying it: error %v", err)
		}

		if err := os.RemoveAll(filepath.Join(other, "results")); err != nil {
			t.Fatal(err)
		}
		text, err := b.call(ctx, other, one+" --protocols grail,test --collect")
		if err != nil {
			t.Fatal(err)
		}
		contains(t, text, "; to evaluate: grail", "1 result collected", "0 of 1 are done")
		if got, err := results.Read(ctx, filepath.Join(other, "results", r.Path())); err != nil || len(got.Evaluation) != 1 {
			t.Errorf("%d evaluations, error %v", len(got.Evaluation), err)
		}
		if err := os.Remove(filepath.Join(other, "results", r.Path())); err != nil {
			t.Fatal(err)
		}
		if text, err = b.call(ctx, other, one+" --protocols grail,test"); err != nil || strings.Contains(text, "to evaluate") {
			t.Errorf("error %v\n%s", err, text)
		}
		if err := os.Remove(filepath.Join(other, "results", r.Path())); err != nil {
			t.Fatal(err)
		}
		l, err := lock.Acquire(ctx, filepath.Join(other, "sample/runs/sweep-delta-0-seed-1/evaluation/test"), "score", false)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Release(ctx)
		if text, err = b.call(ctx, other, one); err != nil {
			t.Fatal(err)
		}
		contains(t, text, "1 run is made by other processes", "0 of 1 runs are done")
	})
	t.Run("a protocol that is added is evaluated", func(t *testing.T) {
		one := flags + " --only *-delta-0-seed-1 --protocols test,grail"
		text, err := b.call(ctx, state, one+" --plan")
		if err != nil {
			t.Fatal(err)
		}
		contains(t, text, "trained  to evaluate: grail")
		before := r
		before.Commit = strings.Repeat("c", 40)
		before.Evaluation = map[string]results.Evaluation{results.TestProtocol: e, "of another file": e}
		if err := results.Write(ctx, filepath.Join(state, "results"), before); err != nil {
			t.Fatal(err)
		}
		if text, err := b.call(ctx, state, one); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		got, err := results.Read(ctx, filepath.Join(state, "results", r.Path()))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, got.Evaluation[results.TestProtocol]); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(e, got.Evaluation["of another file"]); diff != "" {
			t.Error(diff)
		}
		if got.Commit != before.Commit || got.Machine != before.Machine || got.Training.CPUSeconds != before.Training.CPUSeconds {
			t.Errorf("the result is of commit %q, %+v, %g s; want %q, %+v, %g s", got.Commit, got.Machine, got.Training.CPUSeconds, before.Commit, before.Machine, before.Training.CPUSeconds)
		}
		if grail := got.Evaluation["grail"]; grail.Candidates != 50 || grail.Queries != e.Queries || grail.Pessimistic.MRR <= e.Pessimistic.MRR || got.Weights != r.Weights {
			t.Errorf("%+v", grail)
		}
	})
	t.Run("another configuration is stale", func(t *testing.T) {
		changed := strings.Replace(flags, "--epochs 2", "--epochs 1", 1) + " --only *-delta-1-seed-2"
		text, err := b.call(ctx, state, changed)
		if err != nil {
			t.Fatal(err)
		}
		contains(t, text, "1 run is stale", "0 of 1 runs are done")
		if text, err = b.call(ctx, state, changed+" --plan"); err != nil {
			t.Fatal(err)
		}
		contains(t, text, "the result has epochs 2 instead of 1")
		if text, err = b.call(ctx, state, changed+" --force"); err != nil {
			t.Fatal(err)
		}
		contains(t, text, "1 of 1 runs are done")
		if r, err := results.Read(ctx, filepath.Join(state, "results/sample/sweep-delta-1-seed-2.json")); err != nil || r.Training.Epochs != 1 {
			t.Errorf("%d epochs, error %v", r.Training.Epochs, err)
		}
	})
	t.Run("a result is verified", func(t *testing.T) {
		one := flags + " --only */sweep-delta-0-seed-1 --verify"
		text, err := b.call(ctx, state, strings.Replace(one, "--device cpu", "", 1))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		contains(t, text, "every digit is that of the result")
		changed := all[0]
		changed.Evaluation = map[string]results.Evaluation{results.TestProtocol: e}
		metrics := changed.Evaluation[results.TestProtocol]
		metrics.Pessimistic.MRR = math.Nextafter(metrics.Pessimistic.MRR, 0)
		metrics.ByDistance = nil // as in early results
		changed.Evaluation[results.TestProtocol] = metrics
		if err := results.Write(ctx, filepath.Join(state, "results"), changed); err != nil {
			t.Fatal(err)
		}
		text, err = b.call(ctx, state, strings.Replace(one, "--device cpu", "", 1))
		if err == nil || !strings.Contains(err.Error(), "1 of 1 runs differ") {
			t.Errorf("error %v", err)
		}
		contains(t, text, "evaluation.test.pessimistic.mrr: ")
		if strings.Contains(text, "by_distance") {
			t.Errorf("a result without metrics by distance: %s", text)
		}
		text, err = b.call(ctx, state, strings.Replace(one, "--device cpu", "", 1)+" --hours 1e-9")
		if err == nil || !strings.Contains(err.Error(), "the time of --hours 1e-09 is over") || strings.Contains(text, "differs") {
			t.Errorf("interrupted: error %v\n%s", err, text)
		}
	})
}

// collected returns the result of a training and evaluations that an earlier call made: without their times and threads.
func collected(r results.Result) results.Result {
	r.Machine.Threads, r.Training.CPUSeconds = 0, 0
	evaluation := r.Evaluation[results.TestProtocol]
	evaluation.Seconds = 0
	r.Evaluation = map[string]results.Evaluation{results.TestProtocol: evaluation}
	return r
}

// interrupt interrupts a training, which another call resumes, and checks that the result is that of a training without an interrupt.
func (b bench) interrupt(t *testing.T) {
	ctx, state := t.Context(), t.TempDir()
	flags := "--dataset " + b.dataset + " " + strings.Replace(tiny, "--epochs 2", "--epochs 6", 1) + " --threads 1"
	history := filepath.Join(state, "sample/runs/sweep-seed-1/training.jsonl")
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(history); err == nil {
				syscall.Kill(os.Getpid(), syscall.SIGTERM)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	text, err := b.call(ctx, state, flags)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v\n%s", err, text)
	}
	contains(t, text, "waiting for the training to save its checkpoint", "0 of 1 runs are done")
	if text, err = b.call(ctx, state, flags+" --plan"); err != nil {
		t.Fatal(err)
	}
	contains(t, text, "sample/sweep-seed-1  interrupted  epoch ")
	if text, err = b.call(ctx, state, flags+" --hours 1e-9"); err != nil {
		t.Fatal(err)
	}
	contains(t, text, "the time of --hours 1e-09 is over", "0 of 1 runs are done")
	if text, err = b.call(ctx, state, flags); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	contains(t, text, "1 of 1 runs are done")
	if log, err := os.ReadFile(filepath.Join(state, "logs/sample/sweep-seed-1.log")); err != nil || !strings.Contains(string(log), "--resume") {
		t.Errorf("the training was not resumed; %v\n%s", err, log)
	}
	text, err = b.call(ctx, state, strings.Replace(flags, "--device cpu", "", 1)+" --only sample --verify")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// failures makes runs of which one fails, and a dataset that cannot be read.
func (b bench) failures(t *testing.T) {
	ctx, state := t.Context(), t.TempDir()
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.MkdirAll(broken, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, split := range []string{"train", "valid", "test"} {
		if err := os.WriteFile(filepath.Join(broken, split+".txt"), []byte("no fact\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "mine.json")
	text := fmt.Sprintf(`{"experiments": [
		{"name": "bad", "datasets": [{"dataset": %[1]q}], "flags": {"epochs": 1, "dim": 4, "layers": 2, "batch_size": 256, "learning_rate": 1e30}, "seeds": [1]},
		{"name": "graph", "datasets": [{"dataset": %[2]q}], "seeds": [1, 2]},
		{"name": "good", "datasets": [{"dataset": %[1]q}], "flags": {"epochs": 1, "dim": 4, "layers": 2, "batch_size": 256}, "seeds": [1]}
	]}`, b.dataset, broken)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	printed, err := b.call(ctx, state, file+" --device cpu")
	if err == nil || err.Error() != "2 failures, and 1 of 4 runs are done; the same command tries again" {
		t.Errorf("error %v", err)
	}
	log := filepath.Join(state, "logs/sample/bad-seed-1.log")
	contains(t, printed, "sample/bad-seed-1: failed", "sample/good-seed-1: MRR", "the graph of broken: failed", "log: "+log, "the graph of broken: "+broken, ".txt:1: spaces where tabs belong", "1 of 4 runs are done")
	if n := strings.Count(printed, "the graph of broken"); n != 2 {
		t.Errorf("the graph's failure was told %d times:\n%s", n, printed)
	}
	result := filepath.Join(filepath.Dir(file), "results/sample/good-seed-1.json")
	if _, err := results.Read(ctx, result); err != nil {
		t.Error(err)
	}
	for _, path := range []string{result, filepath.Join(state, "sample/runs/good-seed-1/checkpoints/best")} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	printed, err = b.call(ctx, state, file+" --plan")
	if err != nil {
		t.Errorf("a training without its best checkpoint: %v", err)
	}
	contains(t, printed, "sample/good-seed-1   stale    ", "4 runs: 1 stale, 3 missing")
	if _, err := b.call(ctx, state, file+" --results "+file); err == nil || !strings.HasPrefix(err.Error(), "--results: "+file) {
		t.Errorf("results in a file: error %v", err)
	}
	l, err := lock.Acquire(ctx, state, "experiments", false)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Release(ctx)
	if _, err := b.call(ctx, state, file); err == nil || !strings.Contains(err.Error(), "--state "+state+" is used by process") {
		t.Errorf("a second command in the state: error %v", err)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		"paper.json --dataset wn18rr":                  "--dataset makes a sweep without a file",
		"--vary delta=0..5":                            "--vary belongs to a sweep",
		"--epochs 3":                                   "--epochs belongs to a sweep",
		"--dataset x --threads 0":                      "--threads must be 1 or more",
		"--dataset x --hours -1":                       "0 or more",
		"--plan --collect":                             "exclude each other",
		"--verify":                                     "say with --only which runs",
		"--verify --only x --device cpu":               "leave --device and --kernel out",
		"--dataset x --vary delta":                     "lacks its values",
		"--dataset x --vary dim=4 --vary dim=8":        "--vary dim stands twice",
		"--dataset x --seeds a":                        "--seeds: ",
		"--dataset x --epochs 0":                       "--epochs is 0: want 1 or more",
		"--dataset x --preset nothing":                 `unknown preset "nothing"`,
		"--dataset x --only y":                         `--only: no run matches "y"`,
		"--dataset x --tagnet experiments_test.go":     "is no program built by go build",
		"x.json y.json":                                `unexpected argument "y.json"`,
		"--dataset umls --plan --state mem://nowhere/": "",
		"--dataset umsl --plan --state mem://nowhere/": `umsl/sweep: dataset "umsl" is neither a folder nor a file nor a dataset of the catalog; closest is "umls"`,
		"--dataset umsl --state mem://nowhere/":        `umsl/sweep: dataset "umsl" is neither`,
		"--dataset experiments_test.go --inference no/folder --plan --state mem://nowhere/": "dataset no/folder is neither a folder nor a file",
	} {
		err := run(t.Context(), strings.Fields(arguments), io.Discard, io.Discard)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: error %v", arguments, err)
		case want != "" && (!errors.As(err, new(program.UsageError)) || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want a UsageError with %q", arguments, err, want)
		}
	}
	if err := run(t.Context(), []string{"none.json"}, io.Discard, io.Discard); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that does not exist: error %v", err)
	}
	var help strings.Builder
	if err := run(t.Context(), []string{"-h"}, &help, &help); err == nil || !strings.Contains(help.String(), "-vary delta=0..5") || strings.Contains(help.String(), "-learning_rate") {
		t.Errorf("-h: error %v, printed %s", err, help.String())
	}
}
