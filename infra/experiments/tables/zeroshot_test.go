package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/infra/experiments/internal/zeroshot"
)

// zeroshotFolder returns a folder of experiments with a list of models of any graph, of which y is trained on no graph that is known.
func zeroshotFolder(t *testing.T) string {
	t.Helper()
	root := folder(t)
	list := `{"protocol": ["Ranks are filtered."],
		"models": [{"name": "x", "file": "x.pth", "sha256": "fdedc01b0045fc089d2ad5da08569466b7b221691fe978a18e91082bbb133c18", "epochs": 1},
			{"name": "y", "model": "y", "epochs": 1}, {"name": "z", "model": "z", "trained_as": "x", "epochs": 1}],
		"graphs": [{"name": "one", "folder": "one", "tuned": true}, {"name": "part", "folder": "part", "facts_of": {"codex-m": 0.9}},
			{"name": "few", "folder": "few"}, {"name": "lacking", "folder": "lacking"}, {"name": "wn18rr", "folder": "wn18rr", "apart": true}]}`
	if err := os.WriteFile(filepath.Join(root, zeroshot.ListFile), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	return root
}

// measured returns what a run of score measured.
func measured(mrr, seconds float64, messages int64) (m zeroshot.Measured) {
	m.Queries, m.Unreached, m.Messages, m.CPUSeconds, m.Commit = 1000, 100, messages, seconds, "c0"
	m.Machine.Processor = "EPYC"
	m.Pessimistic.MRR, m.Pessimistic.Hits10 = mrr, mrr+.05
	return m
}

// TestZeroshotPage compares the page of made results with a golden one: with a graph that a model lacks, one that was queried in part, one
// that is listed apart, and a model without results.
func TestZeroshotPage(t *testing.T) {
	t.Parallel()
	root := zeroshotFolder(t)
	write := func(graph, model string, limit int, m zeroshot.Measured, tuned *zeroshot.FineTuned) {
		t.Helper()
		r := zeroshot.Result{FormatVersion: zeroshot.FormatVersion, Input: zeroshot.Input{Graph: graph, Model: model, Data: map[string]string{}, Limit: limit}, ZeroShot: m, FineTuned: tuned}
		if err := storage.WriteJSON(t.Context(), zeroshot.Path(filepath.Join(root, zeroshot.ResultsFolder), graph, model), r); err != nil {
			t.Fatal(err)
		}
	}
	write("one", "x", 0, measured(.5, 4, 1_000_000), &zeroshot.FineTuned{Epochs: 1, TrainingCPUSeconds: 30, Measured: measured(.6, 4, 1_000_000)})
	write("one", "y", 0, measured(.4, 1, 250_000), nil)
	write("part", "x", 0, measured(.3, 8, 3_000_000), nil)
	write("part", "y", 0, measured(.2, 2, 1_500_000), nil)
	write("few", "x", 0, measured(.9, 4, 1_000_000), nil)
	write("few", "y", 500, measured(.9, 1, 10), nil)
	write("lacking", "x", 0, measured(.9, 4, 1_000_000), nil)
	write("wn18rr", "x", 0, measured(.7, 10, 0), nil)
	e, err := read(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	page := e.files()[zeroshotPage]
	golden := filepath.Join("testdata", "ZEROSHOT.golden")
	if *update {
		if err := os.WriteFile(golden, page, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(page), "\n")); diff != "" {
		t.Errorf("-want +got, go test ./infra/experiments/tables -update_golden rewrites it:\n%s", diff)
	}
}

// TestZeroshotPageWithoutResults checks that a page without results says so, and that a damaged result is an error.
func TestZeroshotPageWithoutResults(t *testing.T) {
	t.Parallel()
	root := zeroshotFolder(t)
	e, err := read(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if page := string(e.files()[zeroshotPage]); !strings.HasSuffix(page, "Nothing is measured yet.\n") || strings.Contains(page, "|") {
		t.Errorf("the page is\n%s", page)
	}
	path := zeroshot.Path(filepath.Join(root, zeroshot.ResultsFolder), "one", "x")
	if err := storage.WriteFile(t.Context(), path, []byte(`{"format_version": 1, "graph": "two"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t.Context(), root); err == nil || !strings.Contains(err.Error(), path+":1: it is the result of two/") {
		t.Errorf("a result of another graph: error %v", err)
	}
}
