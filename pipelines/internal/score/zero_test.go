package score

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/parquet"
	"tagnet/model"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/train"
)

// TestZeroAnswersWhereNothingIsTrained scores without a trained model: the answers are those of the library, and probabilities are fitted
// to the graph's validation facts. A training further, and then its checkpoint, take its place.
func TestZeroAnswersWhereNothingIsTrained(t *testing.T) {
	w := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("e", 60)))
	queries := file(t, "queries.tsv", "e003\tskip\n")
	flags := []string{"--workspace", w, "--queries", queries, "--top_k", "4"}
	out := pipelinetest.Succeed(t, Pipeline(), flags...)
	for _, want := range []string{"no model is trained in this workspace: zero answers", "train --workspace " + w + " --from zero", "calibrated on the 10 best", "probability"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	compareZero(t, w, "e003", "skip")
	if out := pipelinetest.Succeed(t, Pipeline(), flags...); !strings.Contains(out, "already exists") {
		t.Errorf("a second run:\n%s", out)
	}
	if out := pipelinetest.Succeed(t, Pipeline(), append(flags, "--calibrate=false", "--output", "scores")...); strings.Contains(out, "probability") || !strings.Contains(out, "no probabilities: --calibrate=false") {
		t.Errorf("without a calibration:\n%s", out)
	}
	if out := pipelinetest.Succeed(t, Pipeline(), append(flags, "--reach", "9", "--output", "near")...); !strings.Contains(out, "--from zero --reach 9\n") {
		t.Errorf("with a reach:\n%s", out)
	}
	trained := pipelinetest.Succeed(t, train.Pipeline(), "--workspace", w, "--from", "zero", "--negatives", "8")
	if !strings.Contains(trained, "model zero: of any graph") || !strings.Contains(trained, "best: epoch 1") {
		t.Errorf("training further:\n%s", trained)
	}
	if out := pipelinetest.Succeed(t, Pipeline(), append(flags, "--force")...); strings.Contains(out, "zero answers") || !strings.Contains(out, "e003") {
		t.Errorf("with a checkpoint:\n%s", out)
	}
}

// compareZero compares the answers of the command to (source, relation, ?) with those of the library.
func compareZero(t *testing.T, w, source, relation string) {
	t.Helper()
	m, err := model.Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Fit(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	want, err := m.Ask(t.Context(), model.Query{Source: source, Relation: relation}, 4)
	if err != nil {
		t.Fatal(err)
	}
	var got []model.Answer
	for _, p := range rowsOf[parquet.Prediction](t, filepath.Join(w, "runs/main/evaluation/queries/predictions")) {
		got = append(got, model.Answer{Entity: p.Entity, Score: p.Score, Probability: p.Probability, Hops: int(p.Hops), Known: p.Known})
	}
	if diff := cmp.Diff(want.List, got); diff != "" || len(got) == 0 || got[0].Probability == nil {
		t.Errorf("answers (-library +command):\n%s", diff)
	}
}

// TestZeroOfTwoGraphs fits the probabilities of answers about the inference graph to validation facts of the training graph.
func TestZeroOfTwoGraphs(t *testing.T) {
	w := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(1, "e", 80)), "--inference", pipelinetest.Dataset(t, pipelinetest.Chain(2, "o", 40)))
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--queries", file(t, "queries.tsv", "o003\tr0\n"), "--top_k", "4")
	compareZero(t, w, "o003", "r0")
}

// TestZeroWithoutValidationFacts says why there are no probabilities.
func TestZeroWithoutValidationFacts(t *testing.T) {
	w := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", file(t, "facts.tsv", "a\tr\tb\nb\tr\tc\nc\ts\ta\n"))
	flags := []string{"--workspace", w, "--queries", file(t, "queries.tsv", "a\tr\n")}
	out := pipelinetest.Succeed(t, Pipeline(), flags...)
	if !strings.Contains(out, "no probabilities: there are no validation facts to fit them to") || strings.Contains(out, "--calibrate") {
		t.Errorf("the output is\n%s", out)
	}
}

// TestZeroOnASeenGraph warns where something is measured on a graph of whose facts the model has learned some.
func TestZeroOnASeenGraph(t *testing.T) {
	const warning, metrics, list = "warning: these weights were trained on facts of fb237_v1", ": the metrics are not those of an unseen graph", ": the shares of test facts in the list are not those of an unseen graph"
	for _, c := range []struct {
		tested bool
		flags  []string
		want   string
	}{
		{true, nil, warning + metrics},
		{true, []string{"--facts", "skip"}, warning + list},
		{false, []string{"--facts", "skip"}, ""},
		{true, []string{"--relation", "skip"}, ""},
	} {
		w, files := filepath.Join(t.TempDir(), "workspace"), pipelinetest.Ring("e", 30)
		if !c.tested {
			delete(files, "test.txt")
		}
		dataset := filepath.Join(t.TempDir(), "fb237_v1")
		if err := os.Rename(pipelinetest.Dataset(t, files), dataset); err != nil {
			t.Fatal(err)
		}
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", dataset)
		out := pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", w, "--model", "zero"}, c.flags...)...)
		if !strings.Contains(out, c.want) || strings.Contains(out, "warning") != (c.want != "") {
			t.Errorf("%v, with test facts: %v: no %q in\n%s", c.flags, c.tested, c.want, out)
		}
	}
}

// TestZeroIsNamedWhereATrainingWasInterrupted names it where a run has no epoch.
func TestZeroIsNamedWhereATrainingWasInterrupted(t *testing.T) {
	w := trained(t, "plain")
	checkpoints := filepath.Join(w, "runs/main/checkpoints")
	if err := os.RemoveAll(checkpoints); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Write(t, filepath.Join(checkpoints, "step-00000010.json"), "{}")
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"add --resume", "--model zero"}}, "--workspace", w)
}

// TestFittedOfASample holds how many validation queries probabilities of a sample are fitted to.
func TestFittedOfASample(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int64]int64{0: 0, 300: 2000, 3000: 3000, 60_000: 50_000} {
		if got := (&opened{flags: &flags{limit: limit}}).mostFitted(); got != want {
			t.Errorf("--limit %d: %d, want %d", limit, got, want)
		}
	}
}
