package model_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
)

// TestZero fits probabilities to the facts of a graph that the model needs no training for, with any number of workers.
func TestZero(t *testing.T) {
	t.Parallel()
	var want []model.Answers
	for _, workers := range []int{1, 3} {
		m, err := model.LoadFacts(t.Context(), model.Facts{Train: family()}, "zero", model.WithWorkers(workers))
		if err != nil {
			t.Fatal(err)
		}
		if !m.Configuration().Transfers() {
			t.Errorf("configuration %v", m.Configuration())
		}
		if err := m.Fit(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		answers, err := m.AskAll(t.Context(), everyQuery(m), 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range answers[0].List {
			if p := a.Probability; p == nil || !(*p > 0 && *p <= 1) {
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
