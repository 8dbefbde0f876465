package scoring_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
	"tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/discover"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/score"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/pipelines/internal/train"
)

// TestZeroAnswersWhereNothingIsTrained scores without a trained model: the answers are those of the library, and
// probabilities are fitted to the graph's facts. A training further, and then its checkpoint, take its place.
func TestZeroAnswersWhereNothingIsTrained(t *testing.T) {
	w := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("e", 60)))
	queries := scoringtest.File(t, "queries.tsv", "e003\tskip\n")
	flags := []string{"--workspace", w, "--queries", queries, "--top_k", "4"}
	out := pipelinetest.Succeed(t, ask.Pipeline(), flags...)
	for _, want := range []string{"no model is trained in this workspace: zero answers", "train --workspace " + w + " --from zero",
		"probabilities presume that 5.0% of the facts are missing", "probability"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	compareZero(t, w, "e003", "skip")
	if out := pipelinetest.Succeed(t, ask.Pipeline(), flags...); !strings.Contains(out, "already exists") {
		t.Errorf("a second run:\n%s", out)
	}
	if out := pipelinetest.Succeed(t, ask.Pipeline(), append(flags, "--reach", "9", "--output", "near")...); !strings.Contains(out, "--from zero --reach 9\n") {
		t.Errorf("with a reach:\n%s", out)
	}
	trained := pipelinetest.Succeed(t, train.Pipeline(), "--workspace", w, "--from", "zero", "--negatives", "8")
	if !strings.Contains(trained, "model zero: of any graph") || !strings.Contains(trained, "best: epoch 1") {
		t.Errorf("training further:\n%s", trained)
	}
	if out := pipelinetest.Succeed(t, ask.Pipeline(), append(flags, "--force")...); strings.Contains(out, "zero answers") || !strings.Contains(out, "e003") {
		t.Errorf("with a checkpoint:\n%s", out)
	}
}

// TestZeroGivesWay makes results before a training, and again after it: those of zero are replaced if nothing else
// differs and the flags name them. A list of another training stays.
func TestZeroGivesWay(t *testing.T) {
	w := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, pipelinetest.Ring("e", 30)))
	all := map[string]line{
		"facts/all": {discover.Pipeline(), nil}, "facts/mine": {discover.Pipeline(), []string{"--output", "mine"}},
		"facts/next":                  {discover.Pipeline(), []string{"--relation", "next"}},
		"answers/relation-skip-known": {ask.Pipeline(), []string{"--relation", "skip", "--known"}},
	}
	run := func(name string, more ...string) (code int, out, stderr string) {
		return pipelinetest.Run(t, all[name].pipeline, slices.Concat([]string{"--workspace", w, "--top_k", "2"}, all[name].flags, more)...)
	}
	for name := range all {
		if code, out, stderr := run(name); code != 0 || !strings.Contains(out, "zero answers") {
			t.Fatalf("%s: code %d\n%s%s", name, code, out, stderr)
		}
	}
	training := []string{"--workspace", w, "--layers", "2", "--dim", "4", "--epochs", "1", "--negatives", "4"}
	for range 2 {
		out := pipelinetest.Succeed(t, train.Pipeline(), training...)
		if !strings.Contains(out, "discover --workspace "+w+"\n") {
			t.Errorf("the next command after a training:\n%s", out)
		}
		for _, name := range []string{"facts/all", "answers/relation-skip-known"} {
			code, out, stderr := run(name)
			says := fmt.Sprintf("the results of --model zero in %s give way to those of epoch-001\n", filepath.Join(w, "runs/main", name))
			if code != 0 || strings.Contains(out, says) == strings.Contains(out, "already exists: ") {
				t.Errorf("%s: code %d\n%s%s", name, code, out, stderr)
			}
		}
	}
	pipelinetest.Write(t, filepath.Join(w, "runs/main/facts/next/facts.tsv"), "what a person wrote")
	for name, flags := range map[string][]string{"facts/mine": nil, "facts/next": nil, "facts/all": {"--most", "9"},
		"answers/relation-skip-known": {"--model", "zero"}} {
		if code, out, stderr := run(name, flags...); code != 1 || !strings.Contains(stderr, "--force") {
			t.Errorf("%s %v: code %d\n%s%s", name, flags, code, out, stderr)
		}
	}
	if out := pipelinetest.Succeed(t, train.Pipeline(), append(training, "--seed", "5", "--force")...); !strings.Contains(out,
		"discover --workspace "+w+" --force\n") {
		t.Errorf("the next command after another training:\n%s", out)
	}
	if code, _, stderr := run("facts/all"); code != 1 || !strings.Contains(stderr, "--force overwrites it; or --output NAME to keep both") {
		t.Errorf("after another training: code %d\n%s", code, stderr)
	}
}

// compareZero compares the answers of the command to (source, relation, ?) with those of the library.
func compareZero(t *testing.T, w, source, relation string) {
	t.Helper()
	m, err := model.Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Ask(t.Context(), model.Query{Source: source, Relation: relation}, 4)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]model.Answers{want}, answersOf(t, w, "queries")); diff != "" || len(want.List) == 0 || want.List[0].Probability == nil {
		t.Errorf("answers (-library +command):\n%s", diff)
	}
}

// TestZeroOfTwoGraphs answers about the inference graph.
func TestZeroOfTwoGraphs(t *testing.T) {
	w := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(1, "e", 80)),
		"--inference", pipelinetest.Dataset(t, pipelinetest.Chain(2, "o", 40)))
	pipelinetest.Succeed(t, ask.Pipeline(), "--workspace", w, "--queries", scoringtest.File(t, "queries.tsv", "o003\tr0\n"), "--top_k", "4")
	compareZero(t, w, "o003", "r0")
}

// TestTooFewFacts says why there are no probabilities.
func TestTooFewFacts(t *testing.T) {
	w := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", scoringtest.File(t, "facts.tsv", "a\tr\tb\nb\tr\tc\nc\ts\ta\n"))
	flags := []string{"--workspace", w, "--queries", scoringtest.File(t, "queries.tsv", "a\tr\n")}
	for _, run := range []string{"first", "second"} {
		if out := pipelinetest.Succeed(t, ask.Pipeline(), flags...); strings.Count(out, "no probabilities: ") != 1 || !strings.Contains(out, "too few facts") {
			t.Errorf("the %s run says\n%s", run, out)
		}
	}
}

// TestZeroOnASeenGraph warns where something is measured on a graph of whose facts the model has learned some.
func TestZeroOnASeenGraph(t *testing.T) {
	w, dataset := filepath.Join(t.TempDir(), "workspace"), filepath.Join(t.TempDir(), "fb237_v1")
	if err := os.Rename(pipelinetest.Dataset(t, pipelinetest.Ring("e", 30)), dataset); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", dataset)
	for want, c := range map[string]line{
		"warning: these weights were trained on facts of fb237_v1: the metrics are not those of an unseen graph": {score.Pipeline(), nil},
		"": {ask.Pipeline(), []string{"--relation", "skip", "--top_k", "1"}},
	} {
		out := pipelinetest.Succeed(t, c.pipeline, append([]string{"--workspace", w, "--model", "zero"}, c.flags...)...)
		if !strings.Contains(out, want) || strings.Contains(out, "warning") != (want != "") {
			t.Errorf("%s: no %q in\n%s", c.pipeline.Name, want, out)
		}
	}
}

// TestZeroIsNamedWhereATrainingWasInterrupted names it where a run has no epoch.
func TestZeroIsNamedWhereATrainingWasInterrupted(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	checkpoints := filepath.Join(w, "runs/main/checkpoints")
	if err := os.RemoveAll(checkpoints); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Write(t, filepath.Join(checkpoints, "step-00000010.json"), "{}")
	pipelinetest.Fail(t, score.Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"add --resume", "--model zero"}}, "--workspace", w)
}
