package score

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/metrics"
	"tagnet/formats/parquet"
	"tagnet/formats/storage"
	"tagnet/model"
	"tagnet/model/calibration"
	"tagnet/model/checkpoint"
	"tagnet/pipelines/internal/pipelinetest"
)

// calibrated returns the calibration of a workspace's best checkpoint, and its path.
func calibrated(t *testing.T, workspace string) (*calibration.Calibration, string) {
	t.Helper()
	folder := checkpoint.Folder(filepath.Join(workspace, "runs/main/checkpoints"))
	record, err := folder.Record(t.Context(), "best")
	if err != nil {
		t.Fatal(err)
	}
	c, err := folder.Calibration(t.Context(), record)
	if err != nil || c == nil {
		t.Fatalf("%v, %v", c, err)
	}
	return c, folder.CalibrationURL(record.Name())
}

// TestProbabilities checks the probabilities of predictions, and what the metrics say about them, against the
// calibration and the tables.
func TestProbabilities(t *testing.T) {
	w := trained(t, "plain")
	c, _ := calibrated(t, w)
	folder := filepath.Join(w, "runs/main/evaluation/test")
	check := func(c *calibration.Calibration) metrics.Calibration {
		t.Helper()
		m, err := storage.ReadJSON[metrics.Evaluation](t.Context(), filepath.Join(folder, "metrics.json"))
		if err != nil || m.Calibration == nil {
			t.Fatalf("%+v, %v", m, err)
		}
		answers := map[string]bool{}
		for _, r := range rowsOf[parquet.Ranking](t, filepath.Join(folder, "rankings")) {
			answers[r.Direction+r.Source+r.Relation+r.Answer] = true
		}
		var before, after calibration.Reliability
		relations := []string{"back", "next", "skip"}
		for _, p := range rowsOf[parquet.Prediction](t, filepath.Join(folder, "predictions")) {
			relation := int32(0)
			for relations[relation] != p.Relation {
				relation++
			}
			if p.Direction == "head" {
				relation += 3
			}
			want := c.Probability(relation, p.Score)
			if p.Probability == nil || math.Abs(*p.Probability-want) > 0 {
				t.Fatalf("%+v, want probability %g", p, want)
			}
			if isTrue := answers[p.Direction+p.Source+p.Relation+p.Entity]; p.Position <= int32(c.TopK) && (isTrue || !p.Known) {
				before.Add(calibration.Sigmoid(float64(p.Score)), isTrue)
				after.Add(want, isTrue)
			}
		}
		got := *m.Calibration
		total := after.Total()
		if got.Before.Error != before.Error() || got.After.Error != after.Error() || got.Candidates != total.Candidates || got.True != total.True || got.Mean != total.Mean() ||
			got.BaseRate != c.BaseRate || got.FittedBaseRate != c.Rate() || got.Split != "valid" || len(got.After.Bins) != calibration.Bins {
			t.Errorf("metrics %+v, want errors %g and %g of %d candidates, %d true", got, before.Error(), after.Error(), total.Candidates, total.True)
		}
		return got
	}
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--top_k", "13")
	fitted := check(c)
	if !strings.Contains(out, "calibration error ") || !(fitted.After.Error < fitted.Before.Error) {
		t.Errorf("%s%+v", out, fitted)
	}
}

// TestCalibrationErrorOfAnyTopK checks that the number of answers that are kept changes nothing that is said about probabilities.
func TestCalibrationErrorOfAnyTopK(t *testing.T) {
	w := trained(t, "plain")
	folder := filepath.Join(w, "runs/main/evaluation/test")
	var first metrics.Calibration
	for i, k := range []int{13, 10, 4, 0} {
		pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--top_k", strconv.Itoa(k), "--force")
		m, err := storage.ReadJSON[metrics.Evaluation](t.Context(), filepath.Join(folder, "metrics.json"))
		if err != nil || m.Calibration == nil {
			t.Fatalf("%+v, %v", m, err)
		}
		if i == 0 {
			first = *m.Calibration
		}
		if diff := cmp.Diff(first, *m.Calibration); diff != "" {
			t.Errorf("top_k %d (-13 +%[1]d):\n%s", k, diff)
		}
		if rows := rowsOf[parquet.Prediction](t, filepath.Join(folder, "predictions")); len(rows) != k*int(m.Distinct) {
			t.Errorf("top_k %d: %d predictions of %d queries", k, len(rows), m.Distinct)
		}
	}
}

// TestWithoutCalibration checks that nothing is called a probability then, and that the command which fits it is named.
func TestWithoutCalibration(t *testing.T) {
	w := trained(t, "plain")
	_, path := calibrated(t, w)
	pipelinetest.Remove(t, path)
	own := file(t, "queries.tsv", "e003\tskip\n")
	for _, flags := range [][]string{nil, {"--queries", own}} {
		out := pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", w, "--top_k", "3"}, flags...)...)
		if !strings.Contains(out, "answers have scores, but no probabilities") || !strings.Contains(out, "train --workspace "+w+" --resume fits one") {
			t.Error(out)
		}
	}
	for _, folder := range []string{"test", "queries"} {
		for _, p := range rowsOf[parquet.Prediction](t, filepath.Join(w, "runs/main/evaluation", folder, "predictions")) {
			if p.Probability != nil {
				t.Errorf("%s: %+v has probability %g", folder, p, *p.Probability)
			}
		}
	}
	if strings.Contains(pipelinetest.Read(t, w, "runs/main/evaluation/test/metrics.json"), "calibration") {
		t.Error("the metrics have a calibration")
	}
	if line := strings.Split(pipelinetest.Read(t, w, "runs/main/evaluation/queries/answers.tsv"), "\n")[1]; strings.Split(line, "\t")[6] != "" {
		t.Errorf("answers.tsv: %s", line)
	}
	if code, out, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--checkpoint", "1", "--force"); code != 0 || !strings.Contains(out, "epoch-001 has no calibration") {
		t.Errorf("%d, %s%s", code, out, stderr)
	}
}

// TestCalibrate fits the calibration of a checkpoint that has none, and compares with the one that train fitted.
func TestCalibrate(t *testing.T) {
	w := trained(t, "plain")
	want, url := calibrated(t, w)
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: 2, Begin: "--calibrate: epoch-", Says: []string{"has a calibration for the relations of this graph"}}, "--workspace", w, "--calibrate")
	pipelinetest.Remove(t, url)
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--calibrate")
	if !strings.Contains(out, "  calibration error 0.") {
		t.Errorf("output:\n%s", out)
	}
	kept := checkpoint.Folder(filepath.Join(w, "runs/main/evaluation/test", weightsFolder))
	record, err := kept.Record(t.Context(), "last")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := kept.Calibration(t.Context(), record); err != nil || got == nil || got.Checksum != want.Checksum {
		t.Errorf("the calibration is %+v, error %v, train fitted %+v", got, err, want)
	}
	if _, err := os.Stat(url); err == nil {
		t.Error("the calibration was written into the training's folder")
	}
}

func TestMistakesOfCalibrations(t *testing.T) {
	w := trained(t, "plain")
	_, path := calibrated(t, w)
	text := pipelinetest.Read(t, path)
	pipelinetest.Write(t, path, strings.Replace(text, `"true": `, `"true": 1`, 1))
	code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w)
	if code != 1 || !strings.HasPrefix(stderr, path+" is damaged: ") || !strings.Contains(stderr, "--resume fits it again") {
		t.Errorf("%d, %s", code, stderr)
	}
}

// TestInductiveProbabilities checks that answers about the inference graph have the probabilities of the calibration, which
// is fitted on the training graph.
func TestInductiveProbabilities(t *testing.T) {
	w := trained(t, "inductive")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w)
	m, err := model.Open(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	answers, err := m.Ask(t.Context(), model.Query{Source: "o003", Relation: "skip"}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers.List {
		if a.Probability == nil {
			t.Errorf("%+v has no probability", a)
		}
	}
}
