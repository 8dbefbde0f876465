package model_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"tagnet/model"
	"tagnet/model/calibration"
	"tagnet/model/checkpoint"
)

// calibrated saves the model of the family with a calibration, and returns the folder and the calibration.
func calibrated(t *testing.T) (string, *calibration.Calibration) {
	t.Helper()
	folder := saved(t)
	var sample []calibration.Candidate
	for q := range int64(60) {
		for i := range 4 {
			sample = append(sample, calibration.Candidate{Query: q, Relation: int32(q % 2), Score: float32(i), True: i == 3 && q%3 > q%2})
		}
	}
	c, err := calibration.Fit(sample, trained(t).Relations())
	if err != nil {
		t.Fatal(err)
	}
	f := checkpoint.Folder(folder)
	record, err := f.Record(t.Context(), "best")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.SaveCalibration(t.Context(), record, c); err != nil {
		t.Fatal(err)
	}
	return folder, c
}

func TestProbabilitiesAreCalibrated(t *testing.T) {
	t.Parallel()
	folder, c := calibrated(t)
	m, err := model.LoadFacts(t.Context(), model.Facts{Train: family()}, filepath.Join(folder, "best"))
	if err != nil {
		t.Fatal(err)
	}
	if share, ok := m.BaseRate(); !ok || share != c.BaseRate {
		t.Errorf("base rate %g, %v, want %g", share, ok, c.BaseRate)
	}
	for relation, name := range []string{"grandparent_of", "parent_of", "~grandparent_of", "~parent_of"} {
		answers, err := m.Ask(t.Context(), model.Query{Source: "person 07", Relation: name}, 5)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range answers {
			if want := c.Probability(int32(relation), a.Score); a.Probability == nil || math.Abs(*a.Probability-want) > 0 {
				t.Errorf("%s: %+v, want probability %g", name, a, want)
			}
		}
	}
}

func TestWithoutCalibration(t *testing.T) {
	t.Parallel()
	m := trained(t)
	answers, err := m.Ask(t.Context(), model.Query{Source: "person 03", Relation: "parent_of"}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		if a.Probability != nil {
			t.Errorf("%+v has a probability", a)
		}
	}
	if _, ok := m.BaseRate(); ok {
		t.Error("it has a base rate")
	}
}

func TestDamagedCalibration(t *testing.T) {
	t.Parallel()
	folder, _ := calibrated(t)
	file := filepath.Join(folder, trained(t).Checkpoint()+".calibration.json")
	if err := os.WriteFile(file, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := model.LoadFacts(t.Context(), model.Facts{Train: family()}, filepath.Join(folder, "best")); !errors.Is(err, model.ErrDamaged) {
		t.Errorf("error %v", err)
	}
}
