package model_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
)

// TestFactsWithoutARelation loads a model for facts that lack one of its relations, and for facts of other entities, whose answers are
// the same.
func TestFactsWithoutARelation(t *testing.T) {
	t.Parallel()
	folder := saved(t)
	var parents, renamed []model.Triple
	for _, f := range family() {
		if f.Relation == "parent_of" {
			parents = append(parents, f)
		}
		renamed = append(renamed, model.Triple{Head: "new " + f.Head, Relation: f.Relation, Tail: "new " + f.Tail})
	}
	m, err := model.LoadFacts(t.Context(), model.Facts{Train: parents}, filepath.Join(folder, "best"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Relations(), []string{"parent_of"}) {
		t.Errorf("relations %q", m.Relations())
	}
	if answers, err := m.Ask(t.Context(), model.Query{Source: "person 03", Relation: "parent_of"}, 1); err != nil || len(answers) != 1 {
		t.Errorf("answers %+v, %v", answers, err)
	}
	m, err = model.LoadFacts(t.Context(), model.Facts{Train: renamed}, filepath.Join(folder, "best"))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range everyQuery(trained(t)) {
		want, err := trained(t).Ask(t.Context(), q, 3)
		if err != nil {
			t.Fatal(err)
		}
		q.Source = "new " + q.Source
		got, err := m.Ask(t.Context(), q, 3)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			want[i].Entity = "new " + want[i].Entity
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", q, diff)
		}
	}
}

// TestProbabilitiesOfNewFacts keeps the calibration while the relations are the same.
func TestProbabilitiesOfNewFacts(t *testing.T) {
	t.Parallel()
	folder, _ := calibrated(t)
	for name, c := range map[string]struct {
		facts []model.Triple
		want  bool
	}{
		"more facts":      {append(family(), model.Triple{Head: "person 30", Relation: "parent_of", Tail: "Ada"}), true},
		"fewer relations": {[]model.Triple{{Head: "Ann", Relation: "parent_of", Tail: "Ada"}}, false},
	} {
		m, err := model.LoadFacts(t.Context(), model.Facts{Train: c.facts}, filepath.Join(folder, "best"))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := m.BaseRate(); ok != c.want {
			t.Errorf("%s: calibrated is %v", name, ok)
		}
	}
}
