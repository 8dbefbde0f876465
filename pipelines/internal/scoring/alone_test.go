package scoring_test

import (
	"path/filepath"
	"strings"
	"testing"

	"tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/report"
	"tagnet/pipelines/internal/score"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/pipelines/internal/study"
	"tagnet/pipelines/internal/train"
)

// TestGraphAlone runs every command on a list of facts, without validation and test facts.
func TestGraphAlone(t *testing.T) {
	w := t.TempDir()
	in := []string{"--workspace", w}
	says := func(out, want string) {
		t.Helper()
		if !strings.Contains(out, want) {
			t.Errorf("does not say %q: %s", want, out)
		}
	}
	facts := scoringtest.File(t, "facts.tsv", pipelinetest.Ring("e", 60)["train.txt"])
	pipelinetest.Succeed(t, preprocess.Pipeline(), append(in, "--dataset", facts)...)
	pipelinetest.Fail(t, score.Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Begin: "there is no checkpoint in",
		Says: []string{"--model zero answers on any graph"}}, append(in, "--model", "best")...)
	says(pipelinetest.Succeed(t, ask.Pipeline(), append(in, "--model", scoringtest.ULTRAFile(t, nil),
		"--queries", scoringtest.File(t, "queries.tsv", "e001\tnext\n"), "--output", "pretrained")...), "e001  next  ?")
	out := pipelinetest.Succeed(t, train.Pipeline(), append(in, "--layers", "2", "--dim", "4", "--epochs", "1", "--negatives", "2")...)
	says(out, "there are no validation queries to choose by")
	says(out, "discover --workspace "+w+"\n")

	const none = "--split test has no queries: the dataset has no facts of that split; "
	const add = "choose another --split, or add test.txt to the dataset and run preprocess again\n"
	for _, c := range []struct {
		pipeline command.Pipeline
		want     string
	}{
		{score.Pipeline(), none + "ask answers queries of your own; " + add}, {study.Messages(), none + add}, {study.Distances(), none + add},
	} {
		pipelinetest.Fail(t, c.pipeline, pipelinetest.Failure{Code: command.ExitFailure, Begin: c.want}, append(in, "--split", "test")...)
	}
	out = pipelinetest.Succeed(t, report.Pipeline(), in...)
	says(out, "There are no metrics: ")
	says(out, "score --workspace "+w+" --split train\n")

	says(pipelinetest.Succeed(t, ask.Pipeline(), append(in, "--queries", scoringtest.File(t, "queries.tsv", "e001\tnext\n"))...), "e001  next  ?")
	says(pipelinetest.Succeed(t, ask.Pipeline(), append(in, "--relation", "next", "--sources", "all")...), "queries: 60 ")
	says(pipelinetest.Succeed(t, score.Pipeline(), append(in, "--split", "train")...), "train split, checkpoint epoch-001: ")
	says(pipelinetest.Succeed(t, score.Pipeline(), append(in, "--split", "train", "--model", "zero", "--force")...), "train split, model zero: ")
	says(pipelinetest.Succeed(t, study.Messages(), append(in, "--split", "train", "--layers", "2", "--deltas", "1")...),
		filepath.Join(w, "runs/main/messages/train"))
	says(pipelinetest.Succeed(t, study.Distances(), append(in, "--split", "train")...), filepath.Join(w, "distances/train"))
	pipelinetest.Succeed(t, report.Pipeline(), in...)
}
