package scoring_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/safetensors"
	"tagnet/model"
	"tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/score"
	"tagnet/pipelines/internal/scoring"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/stages/predict"
	"tagnet/stages/stagetest"
)

// TestULTRA answers queries whose relations alternate in a workspace without a trained model, and compares the answers
// with those of the library.
func TestULTRA(t *testing.T) {
	w, weights := scoringtest.WordNet(t), scoringtest.ULTRAFile(t, nil)
	var lines strings.Builder
	for i := range 40 {
		fmt.Fprintf(&lines, "e%03d\t%s\n", 7*i%30, []string{"_has_part", "~_hypernym", "_hypernym", "~_has_part"}[i%4])
	}
	flags := []string{"--workspace", w, "--model", weights, "--queries", scoringtest.File(t, "queries.tsv", lines.String()), "--top_k", "30"}
	out := pipelinetest.Succeed(t, ask.Pipeline(), append(flags, "--threads", "1")...)
	for _, want := range []string{"weights of " + weights + ": ULTRA, 6 layers between relations and 6 between entities, 64 dimensions\n", "asked backward: "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	table := filepath.Join(w, "runs/main/answers/queries", predict.AnswersTable)
	one := stagetest.Rows[parquet.Answer](t, table)
	pipelinetest.Succeed(t, ask.Pipeline(), append(flags, "--threads", "3", "--force")...)
	if diff := cmp.Diff(one, stagetest.Rows[parquet.Answer](t, table)); diff != "" {
		t.Errorf("with three threads:\n%s", diff)
	}
	if len(one) < 40*25 || len(one) >= 40*30 { // all entities but the source and known answers
		t.Fatalf("%d answers", len(one))
	}

	library, err := model.Open(t.Context(), w, model.WithCheckpoint(weights))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range one {
		if p.Position > 1 {
			continue
		}
		answers, err := library.Ask(t.Context(), model.Query{Source: p.Source, Relation: p.Relation, Inverse: p.Direction == "head"}, 30)
		if err != nil {
			t.Fatal(err)
		}
		for j, a := range answers.List {
			if want := one[i+j]; a.Score != want.Score || a.Entity != want.Entity || a.Hops != model.Hops(want.Hops) || want.Known {
				t.Errorf("the library answers %v, score %v", a, want)
			}
		}
	}
}

// TestULTRAExplained explains answers, and compares the paths with those of the library over the checkpoint that is
// kept beside them.
func TestULTRAExplained(t *testing.T) {
	w := scoringtest.WordNet(t)
	out := pipelinetest.Succeed(t, ask.Pipeline(), "--workspace", w, "--model", scoringtest.ULTRAFile(t, nil),
		"--queries", scoringtest.File(t, "queries.tsv", "e003\t~_has_part\n"), "--top_k", "5", "--walks")
	folder := filepath.Join(w, "runs/main/answers/queries")
	m, err := model.Open(t.Context(), w, model.WithCheckpoint(filepath.Join(folder, scoring.WeightsFolder, "epoch-000.json")))
	if err != nil {
		t.Fatal(err)
	}
	if weights := m.PathWeights(); !strings.Contains(out, "\n"+weights+"\n") || !strings.Contains(weights, "not all of a score comes along paths") {
		t.Errorf("the weights of paths are %q in\n%s", weights, out)
	}
	explained := map[string]model.Explanation{}
	for _, r := range stagetest.Rows[parquet.Explanation](t, filepath.Join(folder, predict.ExplanationsTable)) {
		found, asked := explained[r.Entity]
		if !asked {
			if found, err = m.Explain(t.Context(), model.Query{Source: "e003", Relation: "~_has_part"}, r.Entity, 10, model.Walks()); err != nil {
				t.Fatal(err)
			}
			explained[r.Entity] = found
		}
		if r.Weight == nil {
			continue
		}
		if want := found.Paths[int(r.Path)-len(found.Reasons)-1]; *r.Weight != want.Weight || r.Text != want.Text() {
			t.Errorf("path %d to %s is %g %s, want %v", r.Path, r.Entity, *r.Weight, r.Text, want)
		}
	}
	if len(explained) != 5 {
		t.Errorf("%d answers are explained, want 5", len(explained))
	}
}

func TestULTRARefused(t *testing.T) {
	w, weights := scoringtest.WordNet(t), scoringtest.ULTRAFile(t, nil)
	whole, err := os.ReadFile(weights)
	if err != nil {
		t.Fatal(err)
	}
	ring := filepath.Join(t.TempDir(), "ring.tsv")
	other := scoringtest.ULTRAFile(t, func(tensors []safetensors.Tensor[float32]) {
		for i := range tensors {
			tensors[i].Name = "layers." + tensors[i].Name
		}
	})
	for name, c := range map[string]struct {
		code  int
		want  string
		flags []string
	}{
		"cut short": {1, "its zip archive is cut short or damaged", []string{"--model", scoringtest.File(t, "short.pth", string(whole[:len(whole)/2]))}},
		"another shape": {1, "tensor relation_model.layers.0.layer_norm.bias has shape [32 2], want [64]",
			[]string{"--model", scoringtest.ULTRAFile(t, func(tensors []safetensors.Tensor[float32]) { tensors[1].Shape = []int{32, 2} })}},
		"missing":       {2, "--model: " + ring + ".pth does not exist", []string{"--model", ring + ".pth"}},
		"another model": {1, "it is no ULTRA model: no tensor's name begins with relation_model. or entity_model.", []string{"--model", other}},
		"a device":      {1, "no CUDA driver", []string{"--model", weights, "--device", "cuda"}},
		"little memory": {2, "--memory 1 is too small: ", []string{"--model", weights, "--memory", "1"}},
	} {
		code, _, stderr := pipelinetest.Run(t, score.Pipeline(), append([]string{"--workspace", w}, c.flags...)...)
		if code != c.code || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, %s, want %d, %s", name, code, stderr, c.code, c.want)
		}
	}
	if _, err := os.Stat(filepath.Join(w, "runs")); err == nil {
		t.Error("a refused run left files")
	}
}

// TestULTRAPublished scores UMLS, which is in no training set of the weights, with published weights.
func TestULTRAPublished(t *testing.T) {
	data := os.Getenv("TAGNET_DATA")
	weights := filepath.Join(data, "ultra", "ultra_3g.pth")
	if _, err := os.Stat(weights); data == "" || err != nil {
		t.Skipf("no published weights: set TAGNET_DATA to a folder with ultra/ultra_3g.pth and umls")
	}
	w := filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", filepath.Join(data, "umls"))
	out := pipelinetest.Succeed(t, score.Pipeline(), "--workspace", w, "--model", weights)
	if !strings.Contains(out, "trained on FB15k-237, WN18RR and CoDEx-M") || !strings.Contains(out, "0.6960  0.5983  0.7474  0.8956") {
		t.Errorf("output:\n%s", out)
	}
}
