package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tagnet/formats/metrics"
	"tagnet/formats/results"
	"tagnet/model/configuration"
	"tagnet/pipelines/internal/browsertest"
	"tagnet/pipelines/internal/command"
)

// writeResult writes the result of a training with the given delta, whose test MRR is that of its last epoch.
func writeResult(t *testing.T, folder, experiment string, varied map[string]string, seed int64, delta int, curve ...float64) {
	t.Helper()
	c := configuration.Default()
	c.Delta = delta
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	r := results.Result{
		Dataset: "WN18RR_v1", Inference: "WN18RR_v1_ind", Experiment: experiment, Varied: varied, Seed: seed, Configuration: text, Validation: metrics.Validation{Every: 1},
		Graph: strings.Repeat("a1", 32), Commit: strings.Repeat("c", 40), Commands: []string{"tagnet train"}, Machine: results.Machine{Processor: "EPYC", Cores: 2, OS: "linux", Arch: "amd64"},
		Kernels: []string{"avx2"}, Weights: strings.Repeat("0f", 32), Training: results.Training{Epochs: len(curve), BestEpoch: len(curve), Seconds: 60, CPUSeconds: 90},
	}
	var m metrics.Metrics
	for i, mrr := range curve {
		m = metrics.Metrics{MRR: mrr, Hits1: mrr - 0.1, Hits3: mrr, Hits10: mrr + 0.1, MeanRank: 20}
		valid := m
		r.Training.Curve = append(r.Training.Curve, results.Epoch{Epoch: i + 1, Kernel: "avx2", Valid: &valid})
	}
	e := results.Evaluation{Split: "test", Queries: 376, Distinct: 352, Ranks: metrics.Ranks{Pessimistic: m, Mean: m, Optimistic: m}, Messages: int64(delta+1) * 10, NBFNetMessages: 1000}
	r.Evaluation = map[string]results.Evaluation{results.TestProtocol: e, "50-negatives": e}
	if err := results.Write(t.Context(), folder, r); err != nil {
		t.Fatal(err)
	}
}

// compare runs report --results and returns its exit code and output.
func compare(t *testing.T, arguments ...string) (code int, out, problems string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = command.Run(t.Context(), Pipeline(), arguments, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

// TestComparison compares models of a dataset by their result files, without a workspace, and looks at the page in a browser.
// COMPARISON_PAGE names a file that keeps it.
func TestComparison(t *testing.T) {
	folder := t.TempDir()
	for seed := int64(1); seed <= 2; seed++ {
		step := float64(seed) / 50
		for delta, mrr := range []float64{0.6, 0.65, 0.7} {
			writeResult(t, folder, "fixed", map[string]string{"delta": strconv.Itoa(delta)}, seed, delta, 0.4, 0.5, mrr+step)
		}
	}
	writeResult(t, folder, "a-very-long-name-of-an-experiment-that-takes-two-lines", nil, 1, 5, 0.5, 0.6)
	page := filepath.Join(t.TempDir(), "page.html")
	if kept := os.Getenv("COMPARISON_PAGE"); kept != "" {
		page = kept
	}
	code, out, problems := compare(t, "--results", folder+","+filepath.Join(folder, "WN18RR_v1", "fixed-delta-0-seed-1.json"), "--page", page)
	if code != command.ExitOK || !strings.Contains(out, "wrote "+page) {
		t.Fatalf("exit code %d: %s%s", code, out, problems)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	checkMarkup(t, string(text))
	if files, err := filepath.Glob(filepath.Join(filepath.Dir(page), "*.svg")); err != nil || len(files) > 0 || strings.Contains(string(text), "as SVG") {
		t.Errorf("%d figures are files (%v), and the page must not name any", len(files), err)
	}
	for _, want := range []string{
		"7 trainings of 4 models on 1 dataset", "The highest validation MRR is that of fixed, delta 2: 0.730 ± 0.014, over 2 seeds.",
		"fixed, delta 0", "delta 5", "0.630 ± 0.014", "97.0%", "1 min 30 s", "Protocol test", "Protocol 50-negatives", "MRR by delta", "ccccccccc<", "fixed-delta-2-seed-2",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	p := browsertest.Open(t, "file://"+page, 1280, 900)
	for _, width := range []int{1280, 420} {
		p.Resize(width, 900)
		if n := p.Overflow(); n > 0 {
			t.Errorf("at %d the page is %d pixels too wide", width, n)
		}
	}
	if n := browsertest.Evaluate[int](p, `[...document.querySelectorAll("figure svg")].filter(e => e.getBoundingClientRect().height > 100).length`); n != 3 {
		t.Errorf("%d figures are shown, want 3", n)
	}
	if n := browsertest.Evaluate[int](p, `document.scripts.length`); n != 0 {
		t.Errorf("the page has %d scripts", n)
	}
}

// TestComparisonOfMixedSeeds checks that a mean over trainings with several configurations is marked.
func TestComparisonOfMixedSeeds(t *testing.T) {
	folder := t.TempDir()
	writeResult(t, folder, "fixed", nil, 1, 2, 0.5)
	writeResult(t, folder, "fixed", nil, 2, 5, 0.6)
	page := filepath.Join(folder, "page.html")
	if code, _, problems := compare(t, "--results", folder, "--page", page); code != command.ExitOK {
		t.Fatal(problems)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if want := "not the same for all seeds: delta 2; delta 5"; !strings.Contains(string(text), want) {
		t.Errorf("the page does not contain %q", want)
	}
}

// TestComparisonErrors checks that mistakes in the flags and files are one line that names them, and that no page is written.
func TestComparisonErrors(t *testing.T) {
	folder := t.TempDir()
	broken := filepath.Join(folder, "broken.json")
	if err := os.WriteFile(broken, []byte("{\n\"seeed\": 1}"), 0o600); err != nil {
		t.Fatal(err)
	}
	one, other := filepath.Join(folder, "one"), filepath.Join(folder, "other")
	writeResult(t, one, "fixed", nil, 1, 2, 0.5)
	writeResult(t, other, "fixed", nil, 1, 3, 0.5)
	page := filepath.Join(folder, "page.html")
	for _, test := range []struct {
		arguments []string
		code      int
		want      string
	}{
		{[]string{"--results", filepath.Join(folder, "none"), "--page", page}, command.ExitFailure, "no result file (.json) in"},
		{[]string{"--results", filepath.Join(folder, "none.json"), "--page", page}, command.ExitFailure, "none.json does not exist"},
		{[]string{"--results", broken, "--page", page}, command.ExitFailure, broken + `:2:1: unknown key "seeed"`},
		{[]string{"--results", one + "," + other, "--page", page}, command.ExitFailure, "different results of the run fixed-seed-1 of WN18RR_v1"},
		{[]string{"--results", folder, "--run", "main"}, command.ExitUsage, "--run has no effect with --results"},
		{[]string{"--page", page}, command.ExitUsage, "--page names the page of --results"},
	} {
		code, _, problems := compare(t, test.arguments...)
		if code != test.code || !strings.Contains(problems, test.want) || strings.Count(problems, "\n") != 1 {
			t.Errorf("%v: exit code %d, %q, want %d and %q", test.arguments, code, problems, test.code, test.want)
		}
	}
	if _, err := os.Stat(page); err == nil {
		t.Error("a page was written")
	}
}
