package train

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/score"
)

// TestValidateOnInference validates on the inference graph: with the same facts as those of test, the metrics
// of the best epoch are those of the test split, and of score --split valid. Without the flag they are those of
// the training graph.
func TestValidateOnInference(t *testing.T) {
	inference := pipelinetest.Ring("m", 30)
	inference["valid.txt"] = inference["test.txt"]
	of, train := pipelinetest.Dataset(t, inference), pipelinetest.Dataset(t, pipelinetest.Ring("e", 40))
	valid := func(flags ...string) (best metrics.Valid, w, said string) {
		t.Helper()
		w = t.TempDir()
		said = pipelinetest.Succeed(t, preprocess.Pipeline(), append(flags, "--workspace", w, "--dataset", train, "--inference", of)...)
		said += pipelinetest.Succeed(t, Pipeline(), small(w)...)
		r, err := checkpoint.Folder(filepath.Join(w, "runs/main/checkpoints")).Record(t.Context(), "best")
		if err != nil {
			t.Fatal(err)
		}
		return *r.Valid, w, said
	}
	onTraining, _, said := valid()
	if strings.Contains(said, "are about the inference graph") || strings.Contains(said, "validation is on") {
		t.Errorf("without the flag: %s", said)
	}
	best, w, said := valid("--validate_on", "inference")
	for _, want := range []string{"validation queries are about the inference graph, as test queries are", "validation is on the inference graph",
		"probabilities presume that 5.0% of the facts are missing"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in %s", want, said)
		}
	}
	if best.Queries == onTraining.Queries {
		t.Errorf("%d validation queries with and without the flag", best.Queries)
	}
	for _, split := range []string{"test", "valid"} {
		pipelinetest.Succeed(t, score.Pipeline(), "--workspace", w, "--split", split)
		var m metrics.Evaluation
		if err := json.Unmarshal([]byte(pipelinetest.Read(t, w, "runs/main/evaluation", split, "metrics.json")), &m); err != nil {
			t.Fatal(err)
		}
		if m.Pessimistic != best.Pessimistic || m.Queries != best.Queries {
			t.Errorf("%s: %+v of %d queries, want those of the validation, %+v", split, m.Pessimistic, m.Queries, best)
		}
	}
	alone := maps.Clone(inference)
	delete(alone, "valid.txt")
	pipelinetest.Fail(t, preprocess.Pipeline(), pipelinetest.Failure{Code: 2,
		Says: []string{"--validate_on inference: there is no inference graph with validation facts"}},
		"--workspace", t.TempDir(), "--dataset", train, "--inference", pipelinetest.Dataset(t, alone), "--validate_on", "inference")
}
