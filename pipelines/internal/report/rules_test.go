package report

import (
	"path/filepath"
	"strings"
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
)

// TestRules checks that the page has what a graph lacks by its rules, and the rules.
func TestRules(t *testing.T) {
	w, files := filepath.Join(t.TempDir(), "workspace"), pipelinetest.Ring("e", 150)
	delete(files, "test.txt") // facts of rules
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, files))
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w)
	page := pipelinetest.Read(t, w, "report/index.html")
	for _, want := range []string{`<a href="#rules">Rules</a>`, "What the graph lacks by its rules",
		"skip: 15 entities have none, and next, next gives one (so in 135 of 135)", "~back", "next, next"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}
