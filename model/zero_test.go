package model_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
)

// TestZero loads the model that needs no training, and fits probabilities to validation facts.
func TestZero(t *testing.T) {
	t.Parallel()
	facts := model.Facts{Train: family()}
	m, err := model.LoadFacts(t.Context(), facts, "zero")
	if err != nil {
		t.Fatal(err)
	}
	if _, calibrated := m.BaseRate(); calibrated || !m.Configuration().Transfers() {
		t.Errorf("calibrated %v, configuration %v", calibrated, m.Configuration())
	}
	if err := m.Calibrate(t.Context(), 0); !errors.Is(err, model.ErrNoValidation) {
		t.Errorf("calibrating without validation facts: %v", err)
	}
	query := everyQuery(m)[0]
	want, err := m.Ask(t.Context(), query, 3)
	if err != nil || len(want) == 0 {
		t.Fatal(want, err)
	}
	facts.Train, facts.Valid = facts.Train[4:], facts.Train[:4]
	for _, workers := range []int{1, 3} {
		if m, err = model.LoadFacts(t.Context(), facts, "zero", model.WithWorkers(workers)); err != nil {
			t.Fatal(err)
		}
		if err := m.Calibrate(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		rate, calibrated := m.BaseRate()
		if !calibrated || !(rate > 0 && rate < 1) {
			t.Errorf("base rate %g, %v", rate, calibrated)
		}
		answers, err := m.Ask(t.Context(), query, 3)
		if err != nil || len(answers) == 0 {
			t.Fatal(answers, err)
		}
		for _, a := range answers {
			if p := a.Probability; p == nil || math.IsNaN(*p) || *p <= 0 || *p >= 1 {
				t.Errorf("%+v has the probability %v", a, p)
			}
		}
		if workers == 1 {
			want = answers
		} else if diff := cmp.Diff(want, answers); diff != "" {
			t.Errorf("with more workers (-1 +3):\n%s", diff)
		}
	}
}
