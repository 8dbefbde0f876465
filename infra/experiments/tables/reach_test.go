package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/metrics"
	"tagnet/infra/experiments/internal/reach"
)

// TestReachSection checks the rows of what is measured in part and of what is not, and that a damaged result is an error.
func TestReachSection(t *testing.T) {
	t.Parallel()
	root := folder(t)
	list := reach.List{Protocol: []string{"Parts are compared."}, Percents: []int{5, 50, 100}, Sets: []reach.Set{{Name: "some", Dataset: "some", Train: "--epochs 2", Limit: 1000}, {Name: "none", Dataset: "none", Train: "--epochs 3"}}}
	if err := storage.WriteJSON(t.Context(), filepath.Join(root, reach.ListFile), list); err != nil {
		t.Fatal(err)
	}
	measured := func(mrr float64) (m reach.Measured) {
		m.Queries, m.Unreached, m.Distinct, m.Messages, m.CPUSeconds = 1000, 250, 500, 5_000_000, 7
		m.Pessimistic.MRR, m.Pessimistic.Hits10 = mrr, mrr+.1
		m.Sample = &metrics.Sample{Of: 6000, Intervals: &metrics.Intervals{MRR: metrics.Interval{Low: mrr - .02, High: mrr + .02}, Hits10: metrics.Interval{Low: mrr + .09, High: mrr + .11}}}
		return m
	}
	write := func(percent int, trained, scored float64) string {
		t.Helper()
		r := reach.Result{FormatVersion: reach.FormatVersion, Set: list.Sets[0], Percent: percent, Reach: 20 * percent, Commit: "c0"}
		r.Machine.Processor = "EPYC"
		r.Trained = &reach.Trained{Training: reach.Training{Epochs: 2, CPUSeconds: 30, PeakMiB: 99.6}, Measured: measured(trained)}
		if scored > 0 {
			m := measured(scored)
			r.Scored = &m
		}
		path := reach.Item{Set: list.Sets[0], Percent: percent}.Path(filepath.Join(root, filepath.FromSlash(reach.ResultsFolder)))
		if err := storage.WriteJSON(t.Context(), path, r); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write(100, .5, 0)
	path := write(5, .4, .3)
	e, err := read(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	files := e.files()
	page := string(files[resultsPage])
	for _, want := range []string{
		"- Parts are compared.\n", "**some**: `train --epochs 2`, `score --limit 1000`.\n",
		"| 5% | 100 | .400 (.380–.420) | .500 (.490–.510) | .300 (.280–.320) | .400 (.390–.410) | 75.0% | 10,000 | 15.0 | 7.0 | 100 | `go run ./infra/experiments/reach --only some/5 --force` |\n| 50% | not measured |",
		"| 100% | 2,000 | .500 (.480–.520) | .600 (.590–.610) | the same |  | 75.0% |",
		"**none**: `train --epochs 3`.\n\nNot measured: `go run ./infra/experiments/reach --only none`.\n", "Measured on EPYC, commit c0 (2).\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if files["figures/reach-some.svg"] == nil || files["figures/reach-none.svg"] != nil {
		t.Error("a figure is missing, or drawn of nothing")
	}
	if err := os.WriteFile(path, []byte(`{"format_version": 2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t.Context(), root); err == nil || !strings.Contains(err.Error(), path+":1: format_version is 2") {
		t.Errorf("a damaged result: error %v", err)
	}
}
