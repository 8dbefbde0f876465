package model_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
)

// TestFactsWithoutARelation loads a model for facts that lack one of its relations, and for facts of other entities,
// whose answers are the same.
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
	if answers, err := m.Ask(t.Context(), model.Query{Source: "person 03", Relation: "parent_of"}, 1); err != nil || len(answers.List) != 1 {
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
		for i := range want.List {
			want.List[i].Entity = "new " + want.List[i].Entity
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", q, diff)
		}
	}
}
