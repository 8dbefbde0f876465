package report

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/parquet"
	"tagnet/pipelines/internal/browsertest"
	"tagnet/pipelines/internal/workspace"
)

// TestReasons checks that the paths to the answers of the user's queries are drawn on the cards and written out in the
// search.
func TestReasons(t *testing.T) {
	root := t.TempDir()
	w := workspace.New(root)
	var answers []parquet.Prediction
	var paths []parquet.Explanation
	for i := range int32(5) {
		entity := fmt.Sprintf("Cem %d\x1b[31m", i)
		answers = append(answers, parquet.Prediction{Source: "Ada", Relation: "knows", Direction: "head", Position: i + 1, Entity: entity, Score: 5 - float32(i)})
		for path := range int32(4) {
			paths = append(paths, parquet.Explanation{Source: "Ada", Relation: "knows", Direction: "head", Entity: entity, Path: path + 1, Weight: 0.5 / float64(path+1),
				Text:  fmt.Sprintf("Ada -likes-> Bo %d -~knows-> %s", path, entity),
				Steps: fmt.Sprintf(`[{"from":"Ada","relation":"likes","inverse":false,"to":"Bo %d"},{"from":"Bo %d","relation":"knows","inverse":true,"to":"Cem %d\u001b[31m"}]`, path, path, i)})
		}
	}
	if err := errors.Join(
		parquet.Write(t.Context(), parquet.PartFile(w.Evaluation("queries")+"/predictions", 0, 1), answers),
		parquet.Write(t.Context(), parquet.PartFile(w.Evaluation("queries")+"/explanations", 0, 1), paths),
	); err != nil {
		t.Fatal(err)
	}
	stage := workspace.Stage{Workspace: w, Name: "score", Folder: w.EvaluationFolder("queries")}
	if err := errors.Join(stage.Resume(t.Context(), false), stage.Publish(t.Context(), nil)); err != nil {
		t.Fatal(err)
	}
	page, _ := run(t, root)
	for text, want := range map[string]int{
		`class="chart paths"`: drawnAnswers,
		`why: 0.50  Ada -likes-&gt; Bo 0 -~knows-&gt; Cem 0\x1b[31m`: 1,
		`0.12  Ada`:    0, // the fourth path is drawn, not written out
		">Bo 3</text>": drawnAnswers,
		"\x1b":         0,
	} {
		if n := strings.Count(page, text); n != want {
			t.Errorf("%q is %d times on the page, want %d", text, n, want)
		}
	}
	p := browsertest.Open(t, "file://"+filepath.Join(root, "report", "index.html"), 420, 900)
	p.Wait(`document.querySelectorAll("#search-rows .why").length == 5`)
	if got := browsertest.Evaluate[string](p, `document.querySelector("#search-rows .why").textContent`); !strings.Contains(got, `0.25  Ada -likes-> Bo 1 -~knows-> Cem 0\x1b[31m`) || strings.Contains(got, "Bo 3") {
		t.Errorf("the search shows the paths as %q", got)
	}
	browsertest.Evaluate[bool](p, `(document.querySelectorAll("details").forEach(d => d.open = true), true)`)
	if n := p.Overflow(); n > 0 {
		t.Errorf("with open drawings the page is %d pixels too wide", n)
	}
}
