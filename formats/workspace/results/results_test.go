package results

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/metrics"
)

func example() Result {
	valid := &metrics.Metrics{MRR: 0.5, Hits1: 0.4, Hits3: 0.5, Hits10: 0.6, MeanRank: 40.25}
	return Result{
		FormatVersion: FormatVersion,
		Dataset:       "WN18RR_v1", Inference: "WN18RR_v1_ind", Experiment: "fixed", Varied: map[string]string{"delta": "0"}, Seed: 1,
		Configuration: json.RawMessage(`{"layers":6,"delta":0}`), Validation: metrics.Validation{Every: 1},
		Graph:  strings.Repeat("a1", 32),
		Commit: strings.Repeat("c", 40),
		Commands: []string{
			"tagnet preprocess --workspace WN18RR_v1 --dataset WN18RR_v1",
			"tagnet train --workspace WN18RR_v1 --run fixed-delta-0-seed-1 --preset wn-v1 --delta 0 --seed 1",
			"tagnet score --workspace WN18RR_v1 --run fixed-delta-0-seed-1",
		},
		Machine: Machine{Processor: "AMD EPYC 9R14", Cores: 2, Threads: 1, OS: "linux", Arch: "amd64"},
		Kernels: []string{"avx512"},
		Training: Training{Epochs: 2, BestEpoch: 2, Steps: 170, Seconds: 8.5, CPUSeconds: 16.25, Messages: 6000, Curve: []Epoch{
			{Epoch: 1, Loss: 0.5, LearningRate: 0.001, Seconds: 4.5, Messages: 3000, Kernel: "avx512"},
			{Epoch: 2, Loss: 0.4, LearningRate: 0.0008, Seconds: 4, Messages: 3000, Kernel: "avx512", Valid: valid},
		}},
		Weights: strings.Repeat("0f", 32),
		Evaluation: map[string]Evaluation{TestProtocol: {
			Split: "test", Queries: 376, Distinct: 352, Unreached: 44,
			Ranks:      metrics.Ranks{Tied: 0.125, Pessimistic: *valid, Mean: *valid, Optimistic: *valid},
			ByDistance: map[string]Distance{"1": {Queries: 300, Pessimistic: *valid}, "unreached": {Queries: 76, Pessimistic: *valid}},
			Messages:   167933, NBFNetMessages: 6834432, Seconds: 0.5,
		}},
	}
}

func TestWriteRead(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	folder := "mem://" + t.Name()
	want := example()
	second := example()
	second.Seed = 2
	for _, r := range []Result{second, want} {
		if err := Write(ctx, folder, r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read(ctx, folder+"/WN18RR_v1/fixed-delta-0-seed-1.json")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	all, err := ReadAll(ctx, folder)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Result{want, second}, all); diff != "" {
		t.Error(diff)
	}
	var configuration struct{ Layers int }
	if err := got.Configure(&configuration); err != nil || configuration.Layers != 6 {
		t.Errorf("configured %+v, error %v", configuration, err)
	}
	if _, err := Read(ctx, folder+"/none.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that does not exist: error %v", err)
	}
}

func TestGolden(t *testing.T) {
	golden := storagetest.Golden(t, "result.json", func(url string) error { return storage.WriteJSON(t.Context(), url, example()) })
	got, err := Read(t.Context(), golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(example(), got); diff != "" {
		t.Error(diff)
	}
}

func TestReadNamesTheMistake(t *testing.T) {
	t.Parallel()
	text, err := json.MarshalIndent(example(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{`"seed": 1`, `"sed": 1`, `r.json:9:3: unknown key "sed"`},
		{`"format_version": 1`, `"format_version": 2`, "r.json:1: format_version is 2, this program reads 1"},
		{`"seed": 1`, `"seed": "1"`, "r.json:9:11: seed: a text instead of a whole number"},
		{`"dataset": "WN18RR_v1"`, `"dataset": "../x"`, `dataset is "../x"`},
		{`"experiment": "fixed"`, `"experiment": ""`, `experiment is ""`},
		{`"best_epoch": 2`, `"best_epoch": 3`, "the best one is 3"},
		{`"epoch": 2,`, `"epoch": 1,`, "training.curve[1] is epoch 1"},
		{`"mrr": 0.5,`, `"mrr": 1.5,`, "training.curve[1].valid: mrr is 1.5, want 0 to 1"},
		{`"mean_rank": 40.25`, `"mean_rank": 0`, "mean_rank is 0"},
		{`"distinct": 352`, `"distinct": 377`, "377 distinct"},
		{`"queries": 300`, `"queries": 301`, "by_distance has 377 queries, want 376"},
		{`"queries": 76`, `"queries": 0`, `by_distance has 0 queries at "unreached"`},
		{`"weights": "0f`, `"weights": "xx`, "graph and weights"},
		{`"delta": "0"`, `"delta": ""`, "varied has"},
		{`"kernels": [`, `"kernels": [], "commands": [`, `"commands" stands twice`},
	} {
		changed := strings.Replace(string(text), c.old, c.new, 1)
		if changed == string(text) {
			t.Fatalf("%s does not occur in the example", c.old)
		}
		if _, err := decode("r.json", []byte(changed)); err == nil || !strings.HasPrefix(err.Error(), "r.json:") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.new, err, c.want)
		}
	}
}

func TestReadAllNamesAMisplacedFile(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	folder := "mem://" + t.Name()
	if all, err := ReadAll(ctx, folder); len(all) > 0 || err != nil {
		t.Errorf("a folder that does not exist: %d results, error %v", len(all), err)
	}
	if err := storage.WriteJSON(ctx, folder+"/WN18RR_v2/fixed-seed-1.json", example()); err != nil {
		t.Fatal(err)
	}
	want := "by its dataset, experiment, varied flags and seed its name is " + folder + "/WN18RR_v1/fixed-delta-0-seed-1.json"
	if _, err := ReadAll(ctx, folder); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestRunName(t *testing.T) {
	t.Parallel()
	for want, varied := range map[string]map[string]string{
		"fixed-seed-1":                            nil,
		"fixed-delta-0-seed-1":                    {"delta": "0"},
		"fixed-delta-0-learning_rate-5e-3-seed-1": {"learning_rate": "5e-3", "delta": "0"},
		"fixed-policy-windowastar-seed-1":         {"policy": "window+astar"},
	} {
		if got := RunName("fixed", varied, 1); got != want {
			t.Errorf("the name is %s, want %s", got, want)
		}
	}
}

// FuzzRead checks that no text makes the reader panic, and that what it accepts can be written and read again.
func FuzzRead(f *testing.F) {
	text, err := json.Marshal(example())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"format_version": 1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := decode("r.json", text)
		if err != nil {
			return
		}
		folder := "mem://fuzz/" + t.Name()
		if err := Write(context.Background(), folder, r); err != nil {
			t.Fatal(err)
		}
		again, err := Read(context.Background(), folder+"/"+r.Path())
		if err != nil {
			t.Fatal(err)
		}
		r.Configuration, again.Configuration = nil, nil // equal but for the escapes of its texts
		if diff := cmp.Diff(r, again, cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}
