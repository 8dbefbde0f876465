package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/infra/experiments/internal/benchmark"
)

// TestBenchmarksPage checks the figures of the page: of a command that is measured, one that is not, and one whose result is of another command.
func TestBenchmarksPage(t *testing.T) {
	t.Parallel()
	root := folder(t)
	bench := filepath.Join(root, benchFolder)
	list := `{"protocol": ["One runs at a time."], "entries": [
		{"name": "a", "what": "do a", "prepare": ["tagnet preprocess"], "measure": "tagnet a", "count": 2000, "unit": "queries", "prints": true},
		{"name": "b", "what": "do b", "prepare": [], "measure": "tagnet b", "count": 1, "unit": "facts"},
		{"name": "c", "what": "do c", "prepare": [], "measure": "tagnet c", "count": 1, "unit": "facts"}],
		"elsewhere": [{"work": "a", "program": "X", "figure": "an hour", "hardware": "a V100", "source": "https://example.org", "entry": "a"}]}`
	if err := storage.WriteFile(t.Context(), filepath.Join(bench, benchmark.ListFile), []byte(list)); err != nil {
		t.Fatal(err)
	}
	l, err := benchmark.ReadList(t.Context(), filepath.Join(bench, benchmark.ListFile))
	if err != nil {
		t.Fatal(err)
	}
	r := benchmark.Result{FormatVersion: benchmark.FormatVersion, Entry: l.Entries[0], Seconds: 4, CPUSeconds: 3, PeakMiB: 99.6, Load: 0.5, Kernel: "avx2", Printed: `{"p50":1}`, Commit: "c0"}
	r.Machine.Processor, r.Machine.Cores = "EPYC", 2
	c := r
	c.Entry = l.Entries[2]
	c.Measure = "tagnet other"
	write := func(r benchmark.Result) string {
		t.Helper()
		if err := storage.WriteJSON(t.Context(), filepath.Join(bench, benchmark.ResultsFolder, r.Name+".json"), r); err != nil {
			t.Fatal(err)
		}
		e, err := read(t.Context(), root)
		if err != nil {
			t.Fatal(err)
		}
		return string(e.files()[benchmarksPage])
	}
	write(c)
	page := write(r)
	for _, want := range []string{
		"| do a | 2,000 queries | 4.0 | 3.0 | 1.5 ms | 100 | 0.5 | `tagnet a` after `tagnet preprocess` |\n",
		"| do b | 1 facts | not measured |", "| do c | 1 facts | not measured |",
		"prints, do a:\n\n    {\"p50\":1}\n", "was not shared", "| a | X | an hour | a V100 | <https://example.org> | 3.0 s of processor time, 4.0 s of time",
		"- 1 results on EPYC, 2 cores, /, kernels avx2, commit c0\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	r.Load = 3
	if page := write(r); !strings.Contains(page, "The machine was shared.") || strings.Contains(page, "not shared") {
		t.Errorf("a load of 3 on 2 cores:\n%s", page)
	}
	if err := os.WriteFile(filepath.Join(bench, benchmark.ResultsFolder, "b.json"), []byte(`{"format_version": 2}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := read(t.Context(), root); err == nil || !strings.Contains(err.Error(), "format_version is 2") {
		t.Errorf("a damaged result: error %v", err)
	}
}
