package discover

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/workspace/verdicts"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/train"
)

// TestJudgedFactsAndTheNextGraph judges two new facts, and makes the graph again with the verdicts: the true one is a
// fact of it, and the false one is listed neither before nor after.
func TestJudgedFactsAndTheNextGraph(t *testing.T) {
	w, facts := t.TempDir(), filepath.Join(pipelinetest.Dataset(t, pipelinetest.Ring("e", 60)), "train.txt")
	list := func() (facts []verdicts.Fact) {
		pipelinetest.Succeed(t, train.Pipeline(), "--workspace", w, "--layers", "3", "--dim", "8", "--epochs", "1", "--negatives", "8", "--force")
		pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--force")
		for _, f := range factRows(t, w, "all") {
			facts = append(facts, verdicts.Fact{Head: f.Head, Relation: f.Relation, Tail: f.Tail})
		}
		return facts
	}
	var isTrue, isFalse verdicts.Fact
	lists := func(of []verdicts.Fact) bool { return slices.Contains(of, isTrue) || slices.Contains(of, isFalse) }
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", facts)
	before := list()
	isTrue, isFalse = before[0], before[1]
	err := verdicts.Append(t.Context(), w, "test", verdicts.Verdict{Fact: isTrue, Judgment: verdicts.True},
		verdicts.Verdict{Fact: isFalse, Judgment: verdicts.False})
	if err != nil {
		t.Fatal(err)
	}
	if judged := list(); lists(judged) || len(judged) < 3 {
		t.Errorf("a list of %d facts has judged ones", len(judged))
	}
	out := pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", facts+","+filepath.Join(w, verdicts.File), "--force")
	if !strings.Contains(out, "1 fact judged false\n") {
		t.Errorf("preprocess says %s", out)
	}
	if after := list(); lists(after) || len(after) < 3 {
		t.Errorf("the list of %d facts of the next graph has judged ones", len(after))
	}
}
