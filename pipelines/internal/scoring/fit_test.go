package scoring_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/model/answer"
	"tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/discover"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/scoring/scoringtest"
)

// TestProbabilitiesThatAreNotKept checks that answers and lists stay complete without the file of their probabilities,
// and that they are made, with the same probabilities, where that file cannot be written.
func TestProbabilitiesThatAreNotKept(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	folder := filepath.Join(w, answer.ProbabilitiesFolder)
	queries := []string{"--queries", scoringtest.File(t, "queries.tsv", "e003\tskip\n"), "--output", "queries"}
	for name, c := range map[string]line{
		"answers/queries": {ask.Pipeline(), queries}, "facts/skip": {discover.Pipeline(), []string{"--relation", "skip", "--top_k", "2"}},
		"answers/given": {ask.Pipeline(), append(queries[:2:2], "--model", "zero", "--output", "given")},
	} {
		flags := append(c.flags, "--workspace", w)
		run := func(file bool, more ...string) map[string]string {
			if err := os.RemoveAll(folder); err != nil {
				t.Fatal(err)
			}
			if file {
				pipelinetest.Write(t, folder, "a file in the place of the folder")
			}
			out := pipelinetest.Succeed(t, c.pipeline, append(flags, more...)...)
			if again := len(more) == 0; again != strings.Contains(out, "already exists") || strings.Contains(out, "no probabilities") {
				t.Errorf("%s %v: it says\n%s", name, more, out)
			}
			return results(t, w, name)
		}
		want := run(false, "--force")
		if len(want) == 0 {
			t.Errorf("%s: no files", name)
		}
		pipelinetest.Same(t, run(false), want)
		got := run(true, "--force")
		for file := range got {
			if strings.HasPrefix(file, answer.ProbabilitiesFolder) {
				delete(got, file)
			}
		}
		pipelinetest.Same(t, got, want)
		run(true)
	}
}
