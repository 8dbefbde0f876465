package scoring_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/input/datasets"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/safetensors"
	"tagnet/model"
	"tagnet/model/engine/kernel"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/zoo"
	"tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/score"
	"tagnet/pipelines/internal/scoring"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/pipelines/internal/train"
)

// TestModel scores with a model of the zoo in a workspace that has no checkpoint, and compares its answers with those
// of the library over the checkpoint that is kept beside them.
func TestModel(t *testing.T) {
	w := scoringtest.WordNet(t)
	out := pipelinetest.Succeed(t, score.Pipeline(), "--workspace", w, "--model", "WN18RR_v1")
	for _, want := range []string{
		"model wn18rr_v1: trained on WN18RR_v1, 6 layers, 32 dimensions", "the graph lacks 6 of the relations of wn18rr_v1 (\"_also_see\"",
		"test split, model wn18rr_v1: ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if again := pipelinetest.Succeed(t, score.Pipeline(), "--workspace", w, "--model", "wn18rr_v1"); !strings.Contains(again,
		"is complete with the same configuration") {
		t.Errorf("a second run:\n%s", again)
	}
	if code, _, stderr := pipelinetest.Run(t, score.Pipeline(), "--workspace", w, "--model", "wn18rr"); code != 1 ||
		!strings.Contains(stderr, "the model is --model wn18rr_v1 there, --model wn18rr here") {
		t.Errorf("another model over its evaluation: exit code %d, %s", code, stderr)
	}

	queries := scoringtest.File(t, "queries.tsv", "e003\t_hypernym\ne007\t~_verb_group\n")
	pipelinetest.Succeed(t, ask.Pipeline(), "--workspace", w, "--model", "wn18rr_v1", "--queries", queries, "--top_k", "5")
	pipelinetest.Succeed(t, ask.Pipeline(), "--workspace", w, "--model", "wn18rr_v1", "--relation", "_hypernym",
		"--sources", scoringtest.File(t, "sources.txt", "e003\n"), "--top_k", "5")
	kept, err := model.Open(t.Context(), w, model.WithCheckpoint(filepath.Join(w, "runs/main/answers/queries", scoring.WeightsFolder, "epoch-000.json")))
	if err != nil {
		t.Fatal(err)
	}
	want, err := kept.Ask(t.Context(), model.Query{Source: "e007", Relation: "_verb_group", Inverse: true}, 5)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.List, answersOf(t, w, "queries")[1].List); diff != "" {
		t.Errorf("answers (-library +command):\n%s", diff)
	}
	record, err := checkpoint.Folder(filepath.Join(w, "runs/main/answers/queries", scoring.WeightsFolder)).Record(t.Context(), "last")
	if err != nil || record.Origin == nil || record.Origin.Model != "wn18rr_v1" || record.Seed != 1 {
		t.Errorf("the record of the checkpoint is %+v, %v", record, err)
	}
}

// TestModelBesideCheckpoint scores with a model of the zoo where a checkpoint gave the results, and with a checkpoint
// where a model of the zoo did.
func TestModelBesideCheckpoint(t *testing.T) {
	w := scoringtest.WordNet(t)
	pipelinetest.Succeed(t, train.Pipeline(), "--workspace", w, "--layers", "2", "--dim", "4", "--epochs", "1", "--negatives", "2")
	queries := scoringtest.File(t, "queries.tsv", "e003\t_hypernym\n")
	for _, c := range []struct {
		pipeline command.Pipeline
		of       []string
	}{{score.Pipeline(), nil}, {ask.Pipeline(), []string{"--queries", queries, "--output", "parents"}}} {
		flags := append([]string{"--workspace", w}, c.of...)
		pipelinetest.Succeed(t, c.pipeline, flags...)
		code, _, stderr := pipelinetest.Run(t, c.pipeline, append(flags, "--model", "wn18rr_v1")...)
		if code != 1 || !strings.Contains(stderr, "another configuration (the model is epoch-001 there, --model wn18rr_v1 here)") {
			t.Errorf("%s: a model over a checkpoint's results: exit code %d, %s", c.pipeline.Name, code, stderr)
		}
		pipelinetest.Succeed(t, c.pipeline, append(flags, "--model", "wn18rr_v1", "--force")...)
		code, _, stderr = pipelinetest.Run(t, c.pipeline, flags...)
		if code != 1 || !strings.Contains(stderr, "another configuration (the model is --model wn18rr_v1 there, epoch-001 here)") {
			t.Errorf("%s: a checkpoint over a model's results: exit code %d, %s", c.pipeline.Name, code, stderr)
		}
	}
}

// TestOtherModel scores with another model, and with another file of the same name, where weights of a
// file gave the results.
func TestOtherModel(t *testing.T) {
	w, weights := scoringtest.WordNet(t), scoringtest.ULTRAFile(t, nil)
	flags := []string{"--workspace", w, "--model", weights}
	pipelinetest.Succeed(t, score.Pipeline(), flags...)
	refused := func(want string, flags ...string) {
		t.Helper()
		code, _, stderr := pipelinetest.Run(t, score.Pipeline(), flags...)
		if code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("exit code %d, %s, want %s", code, stderr, want)
		}
	}
	named := "--model " + filepath.Base(weights)
	refused("another configuration (the model is "+named+" there, --model wn18rr_v1 here)", "--workspace", w, "--model", "wn18rr_v1")
	content, err := os.ReadFile(scoringtest.ULTRAFile(t, func(tensors []safetensors.Tensor[float32]) { tensors[1].Data[0]++ }))
	if err == nil {
		err = os.WriteFile(weights, content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	refused("another configuration (the model is "+named+" in both, but the file has changed)", flags...)
}

// TestModelsScoreAsTheirCards evaluates the models of the inductive datasets, where those are on this machine.
func TestModelsScoreAsTheirCards(t *testing.T) {
	for _, name := range []string{"wn18rr_v1", "fb237_v1"} {
		m, err := zoo.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		want := m.Card.Evaluation
		if _, err := datasets.Resolve(t.Context(), m.Card.Dataset); err != nil {
			t.Skip(err)
		}
		if _, err := kernel.Named(want.Kernel); err != nil {
			t.Skip(err)
		}
		w := filepath.Join(t.TempDir(), "workspace")
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", m.Card.Dataset, "--inference", m.Card.Inference)
		pipelinetest.Succeed(t, score.Pipeline(), "--workspace", w, "--model", name, "--top_k", "0", "--device", "cpu", "--kernel", want.Kernel)
		got, err := storage.ReadJSON[metrics.Evaluation](t.Context(), filepath.Join(w, "runs/main/evaluation/test", metrics.File))
		if err != nil {
			t.Fatal(err)
		}
		ranks := metrics.Ranks{Tied: got.Tied, Pessimistic: want.Pessimistic, Mean: want.Mean, Optimistic: want.Optimistic}
		if diff := cmp.Diff(metrics.Valid{Queries: want.Queries, Ranks: ranks}, metrics.Valid{Queries: got.Queries, Ranks: got.Ranks}); diff != "" {
			t.Errorf("%s (-card +scored):\n%s", name, diff)
		}
	}
}

func TestModelMistakes(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	for _, c := range []struct {
		want  string
		flags []string
	}{
		{`the model does not know 3 of the graph's relations ("back", "next", "skip"), and the graph lacks 9 of the model's ("_also_see",`,
			[]string{"--model", "wn18rr_v1"}},
		{"train a model on this dataset, or give --model zero", []string{"--model", "wn18rr_v1"}},
		{`--model is "wn19": want best, last, an epoch's number, one of ` + strings.Join(zoo.Names, ", ") + ", or the path of a file",
			[]string{"--model", "wn19"}},
		{`--model is "": want the name of a model`, []string{"--model", ""}},
	} {
		code, _, stderr := pipelinetest.Run(t, score.Pipeline(), append([]string{"--workspace", w}, c.flags...)...)
		if code != 2 || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit code %d, %s, want %s", c.flags, code, stderr, c.want)
		}
	}
}
