package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/results"
	"tagnet/infra/experiments/internal/plan"
	"tagnet/model/weights/configuration"
)

var update = flag.Bool("update_golden", false, "rewrite the golden page")

// committed is the folder of the committed experiments.
const committed = ".."

// TestCurrent checks that RESULTS.md and the figures are those of the committed results.
func TestCurrent(t *testing.T) {
	t.Parallel()
	e, err := read(t.Context(), committed)
	if err != nil {
		t.Fatal(err)
	}
	names, err := stale(committed, e.files())
	if err != nil {
		t.Fatal(err)
	}
	if len(names) > 0 {
		t.Errorf("not current with the results: %s; make results writes them", strings.Join(names, ", "))
	}
}

// folder returns a folder with a file of experiments and results of some of them. Metrics are drawn from the names of the runs.
func folder(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(paperFile, `{"experiments": [
		{"name": "fixed", "datasets": [{"dataset": "WN18RR", "preset": "wn18rr"}, {"dataset": "WN18RR_v1", "preset": "wn-v1"}], "seeds": [1, 2, 3]},
		{"name": "full", "datasets": [{"dataset": "WN18RR_v1", "preset": "wn-v1"}], "flags": {"policy": "full", "degree_messages": false}, "seeds": [1, 2]},
		{"name": "fixed", "datasets": [{"dataset": "WN18RR_v1", "preset": "wn-v1"}], "vary": {"delta": [0, 5]}, "seeds": [1]},
		{"name": "fixed", "datasets": [{"dataset": "WN18RR", "preset": "wn18rr"}], "flags": {"learning_rate_decay": 0.6}, "vary": {"epochs": [5]}, "seeds": [1]},
		{"name": "full", "datasets": [{"dataset": "WN18RR", "preset": "wn18rr"}], "flags": {"policy": "full", "degree_messages": false, "epochs": 5, "learning_rate_decay": 0.6, "share_states": true}, "seeds": [1]},
		{"name": "astar", "datasets": [{"dataset": "WN18RR_v1", "preset": "wn-v1-astar"}], "seeds": [1]},
		{"name": "window-astar", "datasets": [{"dataset": "WN18RR_v1", "preset": "wn-v1-window-astar"}], "seeds": [1]},
		{"name": "specific", "datasets": [{"dataset": "WN18RR_v1", "preset": "wn-v1-specific"}, {"dataset": "WN18RR_v2", "preset": "wn-v2-specific"}], "seeds": [1]},
		{"name": "specific-degree", "datasets": [{"dataset": "WN18RR_v1", "preset": "wn-v1-specific", "flags": {"degree_messages": false}},
			{"dataset": "WN18RR_v2", "preset": "wn-v2-specific", "flags": {"degree_messages": true}}], "seeds": [1]}]}`)
	write("wide.json", `{"experiments": [{"name": "wide", "datasets": [{"dataset": "WN18RR", "preset": "wn18rr", "flags": {"dim": 64}}], "seeds": [1]}]}`)
	write("search.json", `{"space": {}}`)
	write(notesFile, "# Notes\n\nFor the reader.\n\n## WN18RR_v1/window-astar\n\nThree learning rates were tried.\n\n## WN18RR/wide\n\nTwice the dimension.\n\n## Larger batches\n\nThey lose.\n")
	for _, file := range []string{paperFile, "wide.json"} {
		runs, err := plan.Read(t.Context(), filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range runs {
			if r.ID() != "WN18RR/fixed-seed-3" && r.Experiment != "astar" {
				if err := results.Write(t.Context(), filepath.Join(root, "results"), made(t, r, r.Configuration)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := os.CopyFS(filepath.Join(root, countsFolder, "WN18RR"), os.DirFS(filepath.Join(committed, countsFolder, "WN18RR"))); err != nil {
		t.Fatal(err)
	}
	return root
}

// made returns the result of a run.
func made(t *testing.T, run plan.Run, c configuration.Configuration) results.Result {
	t.Helper()
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	hash := fnv.New32()
	hash.Write([]byte(run.ID()))
	noise := float64(hash.Sum32()%1000) / 1e5 // up to .01
	base := map[string]float64{"WN18RR": 0.558, "WN18RR_v1": 0.740, "WN18RR_v2": 0.700}[run.Dataset]
	r := results.Result{
		Dataset: run.Dataset, Experiment: run.Experiment, Varied: run.Varied, Seed: run.Seed, Configuration: text, Validation: metrics.Validation{Every: 1},
		Graph: strings.Repeat("a1", 32), Commit: strings.Repeat("c", 40), Commands: []string{"tagnet train"}, Machine: results.Machine{Processor: "EPYC", Cores: 2, OS: "linux", Arch: "amd64"},
		Kernels: []string{"avx512"}, Weights: strings.Repeat("0f", 32), Training: results.Training{Epochs: 3, BestEpoch: 3, Seconds: 80, CPUSeconds: 70},
	}
	if run.Experiment == "wide" {
		r.Kernels = []string{"cuda", "avx512"}
	}
	var m metrics.Metrics
	for epoch := 1; epoch <= 3; epoch++ {
		m = metrics.Metrics{MRR: base - 0.1/float64(epoch*epoch) + noise, Hits1: base - 0.06, Hits3: base + 0.02, Hits10: base + 0.07 + noise, MeanRank: 40}
		valid := m
		r.Training.Curve = append(r.Training.Curve, results.Epoch{Epoch: epoch, Kernel: "avx512", Valid: &valid})
	}
	sent := map[string]int64{"full": 1000, "astar": 40, "window-astar": 30}[run.Experiment]
	if sent == 0 {
		sent = int64(10 * (c.Delta + 1))
	}
	e := results.Evaluation{Split: "test", Queries: 376, Distinct: 352, Ranks: metrics.Ranks{Pessimistic: m, Mean: m, Optimistic: m}, Messages: sent, NBFNetMessages: 1000}
	r.Evaluation = map[string]results.Evaluation{"grail": e}
	far := m
	far.Hits10 = 0
	e.ByDistance = map[string]results.Distance{
		"1": {Queries: 200, Pessimistic: m}, "3": {Queries: 100, Pessimistic: m}, "unreached": {Queries: 76, Pessimistic: far},
	}
	r.Evaluation[results.TestProtocol] = e
	return r
}

// TestPage compares the page of made results with a golden one. Two of its results are missing.
func TestPage(t *testing.T) {
	t.Parallel()
	e, err := read(t.Context(), folder(t))
	if err != nil {
		t.Fatal(err)
	}
	files := e.files()
	golden := filepath.Join("testdata", "RESULTS.golden")
	if *update {
		if err := os.WriteFile(golden, files[resultsPage], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(files[resultsPage]), "\n")); diff != "" {
		t.Errorf("-want +got, go test ./infra/experiments/tables -update_golden rewrites it:\n%s", diff)
	}
	for name := range files {
		if name != resultsPage && !bytes.Contains(files[resultsPage], []byte(`"`+name+`"`)) {
			t.Errorf("the page does not show %s", name)
		}
	}
}

// TestPageWithoutDistances leaves datasets out of the comparison by distance whose results are from before these were recorded.
func TestPageWithoutDistances(t *testing.T) {
	t.Parallel()
	const title = "Hits@10 by the edges from source to answer"
	for _, experiment := range []string{"fixed", "full"} {
		e, err := read(t.Context(), folder(t))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(e.page(), title) {
			t.Fatalf("the page lacks %q", title)
		}
		for _, c := range e.cells {
			for _, r := range c.Results {
				if early := r.Evaluation[results.TestProtocol]; c.Experiment == experiment {
					early.ByDistance = nil
					r.Evaluation[results.TestProtocol] = early
				}
			}
		}
		if strings.Contains(e.page(), title) {
			t.Errorf("%s without distances: the page has %q", experiment, title)
		}
	}
}

// TestCommand writes the files of a folder, finds them current, and then stale after a change of each.
func TestCommand(t *testing.T) {
	t.Parallel()
	root := folder(t)
	call := func(arguments ...string) (string, error) {
		var out bytes.Buffer
		err := run(context.Background(), append([]string{"--folder", root}, arguments...), &out, &out)
		return out.String(), err
	}
	if out, err := call(); err != nil || !strings.Contains(out, "RESULTS.md") {
		t.Fatalf("%s, error %v", out, err)
	}
	if out, err := call("--check"); err != nil {
		t.Fatalf("%s, error %v", out, err)
	}
	if out, err := call(); err != nil || out != "" {
		t.Errorf("written again: %s, error %v", out, err)
	}
	for _, name := range []string{"RESULTS.md", "figures/validation-WN18RR.svg", "figures/old.svg"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.WriteFile(path, []byte("changed"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := call("--check"); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s was changed: error %v", name, err)
		}
		if _, err := call(); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(path); err == nil && string(text) == "changed" {
			t.Errorf("%s was not mended", name)
		}
	}
	if _, err := call("--check"); err != nil {
		t.Error(err)
	}
	root = t.TempDir()
	if _, err := call(); err == nil || !strings.Contains(err.Error(), "--folder") {
		t.Errorf("a folder without experiments: error %v", err)
	}
}

// TestStale checks that a result of another configuration than the planned one is marked.
func TestStale(t *testing.T) {
	t.Parallel()
	root := folder(t)
	runs, err := plan.Read(t.Context(), filepath.Join(root, paperFile))
	if err != nil {
		t.Fatal(err)
	}
	other := runs[0].Configuration
	other.Dropout += 0.1
	if err := results.Write(t.Context(), filepath.Join(root, "results"), made(t, runs[0], other)); err != nil {
		t.Fatal(err)
	}
	e, err := read(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if page := e.page(); strings.Count(page, "stale: another configuration") != 3 {
		t.Error("a stale result is not marked in the three columns of its row")
	}
}

func TestNotesNameCells(t *testing.T) {
	t.Parallel()
	root := folder(t)
	for text, want := range map[string]string{
		"# Notes\n\n## WN18RR_v1/fixd\n":                             `notes.md:3: no results and no experiments file have "WN18RR_v1/fixd"; the closest is WN18RR_v1/fixed`,
		"## WN18RR_v1/fixed\n\nOne.\n\n## WN18RR_v1/fixed\n\nTwo.\n": "notes.md:5: WN18RR_v1/fixed has a note already",
	} {
		if err := os.WriteFile(filepath.Join(root, notesFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := read(t.Context(), root); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

func TestVerdict(t *testing.T) {
	t.Parallel()
	e, err := read(t.Context(), folder(t))
	if err != nil {
		t.Fatal(err)
	}
	c := e.cell("WN18RR_v1", "fixed")
	ours := c.Metric(results.TestProtocol, shownMetrics[2].Metric).Mean // about .815 of 376 queries: a standard error of .020
	for paper, want := range map[float64]verdict{ours - 0.01: reached, ours: reached, ours + 0.0004: reached, ours + 0.015: within, ours + 0.03: lower} {
		if n := newNumber(c, "", shownMetrics[2].Metric, paper); n.verdict() != want || !(n.standardError() > 0.018 && n.standardError() < 0.022) {
			t.Errorf("%.4f against %.4f: verdict %d, want %d; standard error %.4f", ours, paper, n.verdict(), want, n.standardError())
		}
	}
	if n := newNumber(e.cell("WN18RR_v1", "astar"), "", shownMetrics[0].Metric, 0.5); n.verdict() != missing {
		t.Errorf("without a result the verdict is %d", n.verdict())
	}
}
