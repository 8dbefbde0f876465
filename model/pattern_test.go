package model_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"tagnet/model"
)

// TestMatch compares the facts of answers with Score, and has the errors.
func TestMatch(t *testing.T) {
	t.Parallel()
	m, err := model.LoadFacts(t.Context(), model.Facts{Train: family()}, "zero")
	if err != nil {
		t.Fatal(err)
	}
	asked := model.Pattern{Text: `parent_of("person 10", ?x), grandparent_of(?x, ?y)`, Answer: "y"}
	if _, err := m.Match(t.Context(), asked, 3); !errors.Is(err, model.ErrNoProbabilities) {
		t.Fatalf("before a fit: error %v", err)
	}
	if err := m.Fit(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	found, err := m.Match(t.Context(), asked, 3)
	if err != nil || len(found.List) < 3 {
		t.Fatalf("%d answers, error %v", len(found.List), err)
	}
	for _, one := range found.List {
		product := 1.
		for _, f := range one.Facts {
			scored, err := m.Score(t.Context(), []model.Triple{{Head: f.Head, Relation: f.Relation, Tail: f.Tail}})
			if err != nil {
				t.Fatal(err)
			}
			if f.Stated != scored[0].Known || !f.Stated && !(math.Abs(f.Probability-*scored[0].Probability) <= 1e-9) {
				t.Errorf("%v is scored %+v", f, scored[0])
			}
			product *= f.Probability
		}
		if !(math.Abs(product-one.Probability) <= 1e-12) ||
			one.Facts[1].Tail != one.Entity || !strings.Contains(one.Text(), `parent_of("person 10", "person `) {
			t.Errorf("%s: %s has probability %v, its facts %v", one.Entity, one.Text(), one.Probability, product)
		}
	}
	wrong, unknown := new(model.PatternError), new(model.UnknownNameError)
	_, err = m.Match(t.Context(), model.Pattern{Text: `parent_of(nobody, ?x)`}, 3)
	if !errors.As(err, &wrong) || !errors.As(err, &unknown) || wrong.At != 10 {
		t.Errorf("an unknown name: %v", err)
	}
	if _, err := m.Match(t.Context(), asked, 0); err == nil {
		t.Error("no answers are given")
	}
}
