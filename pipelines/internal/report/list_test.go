package report

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/verdicts"
	"tagnet/model/answer/rules"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/probabilities"
)

// list writes a complete list of new facts from the present graph, so many hours ago.
func (f fixture) list(name string, hours int, p *metrics.Presumed, rows ...parquet.Fact) {
	f.t.Helper()
	w, ctx := f.workspace, f.t.Context()
	folder := w.FactsFolder(name)
	stage := workspace.Output{Workspace: w, Name: "discover", Folder: folder, Inputs: ofGraph(f.t, w),
		Configuration: map[string]any{"weights": "abcdefabcdef00", "reach": 0}}
	f.write(folder+"/facts.json", metrics.Discovery{Graph: "all", Listed: int64(len(rows)), Candidates: 1234, Probabilities: p})
	err := errors.Join(parquet.Write(ctx, parquet.PartFile(w.Path(folder, "facts"), 0, 1), rows), stage.Resume(ctx, false), stage.Publish(ctx, nil))
	at := time.Now().Add(-time.Duration(hours) * time.Hour)
	if err := errors.Join(err, os.Chtimes(w.Path(folder, manifest.FileName), at, at)); err != nil {
		f.t.Fatal(err)
	}
}

// TestNewFacts checks what the page has of the newest list and of verdicts, in a workspace with nothing but these.
func TestNewFacts(t *testing.T) {
	root, files := filepath.Join(t.TempDir(), "workspace"), pipelinetest.Ring("e", 150)
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", root, "--dataset", pipelinetest.Dataset(t, files))
	f := fixture{t: t, workspace: workspace.New(root)}
	fact := func(position int, relation string, p float64) parquet.Fact {
		return parquet.Fact{Position: int64(position), Head: fmt.Sprint("h", position), Relation: relation, Tail: hostile, Probability: &p, TailRank: 1,
			HeadRank: 1}
	}
	f.list("all", 2, nil, fact(1, "old", .5))
	rows := []parquet.Fact{fact(1, "skip", .95), fact(2, "skip", .6), fact(3, "next", .3)}
	for i := 4; i <= 60; i++ {
		rows = append(rows, fact(i, "next", 0))
	}
	f.list("mine", 1, &metrics.Presumed{Missing: .084, Told: true, Shares: map[string]float64{"skip": .12}}, rows...)
	said := "h1\tskip\t" + hostile + "\ttrue\t\tAda\nh2\tskip\tx\tfalse\t\tAda\nh3\tskip\tx\tfalse\nh3\tskip\tx\tundo\nh4\tskip\tx\tfalse\n"
	f.writeText(verdicts.File, said)
	judged, err := verdicts.Read(t.Context(), f.workspace.Path(verdicts.File))
	if err != nil {
		t.Fatal(err)
	}
	graph := ofGraph(t, f.workspace)
	told := map[string]any{"verdicts": judged.SHA256, "graph": graph["graph"], "told": map[string]any{
		"common": map[string]any{"share": .084, "low": .06, "high": .12, "judged": 47}}}
	f.write(fmt.Sprintf("probabilities/abcdefabcdef-%.12s-0.json.verdicts", graph["graph"]), told)
	page, _ := made(t, root)
	checkMarkup(t, page)
	text := strings.ReplaceAll(page, "<wbr>", "")
	for _, want := range []string{
		"<title>New facts: ", "The list mine has the best 60 of 1,234 candidates.",
		"By their probabilities 2 are true, if 8.4% of the graph&#39;s facts are missing, as verdicts tell; of single relations skip 12.0%.",
		"Judged facts: 1 true and 2 false, 2 by Ada and 1 by somebody without a name.",
		"47 verdicts: between 6% and 12% of the facts are missing, 8.4%",
		`<th scope="row">all</th><td>60</td><td>1</td><td>2</td><td>2</td>`, `<th scope="row">skip</th><td>2</td><td>1</td><td>2</td><td>2</td>`,
		`<th scope="row">next</th><td>58</td><td>0</td><td>0</td><td>0</td>`,
		"<td>0.950</td><td>true</td>", "<td>0.600</td><td></td>", `<th scope="row">h50</th>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	if strings.Contains(text, ">old<") || strings.Contains(text, ">h51<") {
		t.Error("the page has another list, or more of it than its first facts")
	}
	// Later verdicts tell something else, which nobody has computed, and what cannot be read is a gap.
	f.writeText(verdicts.File, said+"h5\tskip\tx\tfalse\n")
	if page, _ := made(t, root); strings.Contains(page, "47 verdicts") {
		t.Error("the page says what other verdicts tell")
	}
	f.writeText(verdicts.File, "h1\tskip\tx\tperhaps\n")
	if err := os.RemoveAll(f.workspace.Path(f.workspace.FactsFolder("mine"), "facts")); err != nil {
		t.Fatal(err)
	}
	_, output := made(t, root)
	for _, want := range []string{`The verdicts cannot be shown (`, `: the verdict is "perhaps"; write true, false or undo`,
		"The list of new facts cannot be shown ("} {
		if !strings.Contains(output, want) {
			t.Errorf("no %q in %s", want, output)
		}
	}
}

// TestMissingMirrors checks the sentence on relations some of whose facts have no mirror.
func TestMissingMirrors(t *testing.T) {
	e := evidence{rules: probabilities.Found{Relations: []string{"owns", "owned_by"}, Findings: []rules.Finding{
		{Kind: rules.Expected, Relation: 1, Missing: 7},
		{Kind: rules.MissingMirror, Relation: 0, Body: []int32{3}, Support: 4884, Cases: 5416, Missing: 532},
		{Kind: rules.MissingMirror, Relation: 0, Body: []int32{2}, Support: 9, Cases: 10, Missing: 1},
	}}}
	const want = "The graph lacks 532 mirrors of owned_by (4,884 of its 5,416 facts have one) and 1 mirror of owns (9 of its 10 facts have one)."
	if got := e.findings(); len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
	e.rules.Findings = e.rules.Findings[:1]
	if got := e.findings(); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
