package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/infra/datasets"
)

// TestExperiments makes a sweep and a search by this program alone, in a folder without a clone, and without the go tool.
func TestExperiments(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := datasets.Sample(t.Context(), filepath.Join(folder, "sample"), 1); err != nil {
		t.Fatal(err)
	}
	search := `{"name": "tiny", "dataset": "sample", "flags": {"dim": 4, "layers": 2, "negatives": 4, "batch_size": 128, "valid_limit": 50},
		"space": {"dropout": {"uniform": [0, 0.3]}}, "candidates": 2, "rungs": [1], "keep_one_in": 2, "seed": 3}`
	if err := os.WriteFile(filepath.Join(folder, "search.json"), []byte(search), 0o666); err != nil {
		t.Fatal(err)
	}
	call := func(arguments string) (string, int) {
		c := start(t, strings.Fields("experiments "+arguments)...)
		c.Dir = folder
		c.Env = append(c.Env, "PATH=")
		output, _ := c.CombinedOutput()
		return string(output), c.ProcessState.ExitCode()
	}
	for _, test := range []struct {
		arguments string
		code      int
		says      []string
	}{
		{"--dataset sample --dim 4 --layers 2 --negatives 4 --batch_size 128 --epochs 1 --valid_limit 50 --device cpu --seeds 1..2 --cores 2", 0,
			[]string{"sample/sweep-seed-1: MRR 0.", "2 of 2 runs are done"}},
		{"--search search.json --device cpu --cores 2", 0, []string{"best: candidate ", "wrote experiments/tiny.json\nnext: go run ./pipelines/tagnet experiments --dataset sample --preset experiments/tiny.json"}},
		{"", 2, []string{"say what to train: a FILE of experiments, a sweep of --dataset, or --search FILE"}},
		{"-h", 0, []string{"usage: go run ./pipelines/tagnet experiments [flags]", "-search file"}},
		{"--dataset nowhere", 2, []string{"neither a folder nor a file nor a dataset of the catalog"}},
	} {
		output, code := call(test.arguments)
		if code != test.code {
			t.Errorf("%s: exit code %d, want %d: %s", test.arguments, code, test.code, output)
		}
		for _, want := range test.says {
			if !strings.Contains(output, want) {
				t.Errorf("%s: no %q in %s", test.arguments, want, output)
			}
		}
	}
}
