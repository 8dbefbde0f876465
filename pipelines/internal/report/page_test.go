package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestInBrowser checks that all figures of a page are drawn, that its links lead somewhere, and that nothing is wider
// than a telephone.
func TestInBrowser(t *testing.T) {
	root := t.TempDir()
	f := fixture{t, workspace.New(root), 40, 900}
	f.all()
	run(t, root)
	p := pipelinetest.OpenPage(t, "file://"+filepath.Join(root, "report", "index.html"), 1280, 900)
	if n := pipelinetest.EvaluateOnPage[int](p,
		`[...document.querySelectorAll("figure svg")].filter(e => e.getBoundingClientRect().height > 100).length`); n != 9 {
		t.Errorf("%d figures are drawn, want 9", n)
	}
	if dead := pipelinetest.EvaluateOnPage[[]string](p,
		`[...document.querySelectorAll("a")].map(a => a.getAttribute("href")).filter(to => !document.querySelector(to))`); len(dead) > 0 {
		t.Errorf("links lead nowhere: %q", dead)
	}
	if n := pipelinetest.EvaluateOnPage[int](p, `document.scripts.length`); n != 0 {
		t.Errorf("%d scripts: a name became one", n)
	}
	pipelinetest.EvaluateOnPage[bool](p, `(document.querySelectorAll("details").forEach(d => d.open = true), true)`)
	for _, width := range []int{1280, 900, 420} {
		p.Resize(width, 900)
		if n := p.Overflow(); n > 0 {
			t.Errorf("at %d the page is %d pixels too wide", width, n)
		}
	}
	p.Resize(400, 900)
	if cut := pipelinetest.EvaluateOnPage[int](p, `(n => n.scrollWidth - n.clientWidth)(document.querySelector("nav"))`); cut > 0 {
		t.Errorf("%d pixels of the navigation are cut off at 400", cut)
	}
	if cut := pipelinetest.EvaluateOnPage[[]string](p, cutTables); len(cut) > 0 {
		t.Errorf("at 400 the tables of up to 5 columns are cut off, or the rows of wider ones lose their names where they are scrolled: %q", cut)
	}
	// Tables between figures fit; wider ones scroll in a box of their own.
	p.Resize(900, 900)
	if clipped := pipelinetest.EvaluateOnPage[[]string](p,
		`[...document.querySelectorAll("figure .scroll")].filter(e => e.scrollWidth > e.clientWidth).map(e => e.innerText)`); len(clipped) > 0 {
		t.Errorf("clipped at 900: %q", clipped)
	}
	if said := p.Said(); len(said) > 0 {
		t.Errorf("the console says %q", said)
	}
}

// cutTables returns the text of narrow tables that do not fit their boxes, and of wide ones whose first column leaves
// the box with the others.
const cutTables = `[...document.querySelectorAll(".scroll")].filter(box => {
	if (box.scrollWidth <= box.clientWidth) return false
	if (box.querySelectorAll("thead th").length <= 5) return true
	box.scrollLeft = box.scrollWidth
	return box.querySelector("tbody th").getBoundingClientRect().left < box.getBoundingClientRect().left
}).map(box => box.innerText.slice(0, 60))`

// TestLongNames checks that names of half a megabyte neither swell the page nor lose their ends.
func TestLongNames(t *testing.T) {
	root := t.TempDir()
	f := fixture{t, workspace.New(root), 3, 12}
	f.all()
	long := strings.Repeat("long ", 100_000) + "\x1b[31m end"
	m := metrics.Evaluation{Split: "test", Checkpoint: "epoch-012", Summary: summaryOf(12, 0.5), ByRelation: map[string]metrics.Summary{}}
	for i := range 20 {
		m.ByRelation[fmt.Sprint(i, long)] = summaryOf(40, 0.1)
	}
	f.write("runs/main/evaluation/test/metrics.json", m)
	page, _ := run(t, root)
	if strings.Contains(page, "Best relations") || !strings.Contains(page, "All 20 relations") {
		t.Error("20 relations of equal metrics have best and worst ones, or no table of all")
	}
	if len(page) > 400_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	if strings.Contains(page, "\x1b") || !strings.Contains(page, `long \x1b[31m end`) {
		t.Error("the escape sequence is not shown as such")
	}
}
