package model_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
)

// TestScore scores triples together and one by one, one of them twice, and refuses names that the graph does not have.
func TestScore(t *testing.T) {
	t.Parallel()
	m := trained(t)
	triples := []model.Triple{
		{Head: "person 06", Relation: "grandparent_of", Tail: "person 08"}, {Head: "person 10", Relation: "grandparent_of", Tail: "person 12"},
		{Head: "person 06", Relation: "parent_of", Tail: "person 06"}, {Head: "person 06", Relation: "grandparent_of", Tail: "person 08"},
	}
	all, err := m.Score(t.Context(), triples)
	if err != nil {
		t.Fatal(err)
	}
	for i, one := range triples {
		alone, err := m.Score(t.Context(), []model.Triple{one})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(alone[0], all[i]); diff != "" || all[i].Triple != one {
			t.Errorf("triple %d (-alone +together):\n%s", i, diff)
		}
	}
	if none, err := m.Score(t.Context(), nil); len(none) > 0 || err != nil {
		t.Errorf("no triples: %v, %v", none, err)
	}
	// What is not in the graph is scored as the answer of a query.
	answers, err := m.Ask(t.Context(), model.Query{Source: "person 10", Relation: "grandparent_of"}, 1)
	if err != nil || answers.List[0].Score != all[1].AsTail.Score || answers.List[0].Entity != all[1].Tail {
		t.Errorf("the answer is %+v, error %v, the triple %+v", answers, err, all[1])
	}
	for name, bad := range map[string]model.Triple{"person 99": {Head: "person 99", Relation: "parent_of", Tail: "person 01"},
		"aunt": {Head: "person 01", Relation: "aunt", Tail: "person 01"}, "nobody": {Head: "person 01", Relation: "parent_of", Tail: "nobody"}} {
		unknown := new(model.UnknownNameError)
		if _, err := m.Score(t.Context(), append(triples[:1:1], bad)); !errors.As(err, &unknown) || unknown.Name != name ||
			!strings.HasPrefix(err.Error(), "triple 2: ") {
			t.Errorf("%+v: error %v", bad, err)
		}
	}
}

// TestBetween checks that the relations of a pair are scored as triples, and the errors.
func TestBetween(t *testing.T) {
	t.Parallel()
	m := trained(t)
	best, err := m.Between(t.Context(), "person 06", "person 08", 10)
	if err != nil || len(best) != 2 || best[0].Relation != "grandparent_of" || !best[0].Known || best[1].Known {
		t.Fatalf("%+v, error %v", best, err)
	}
	for _, of := range best {
		scored, err := m.Score(t.Context(), []model.Triple{of.Triple})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(scored[0], of); diff != "" {
			t.Errorf("%s (-Score +Between):\n%s", of.Relation, diff)
		}
	}
	unknown := new(model.UnknownNameError)
	for _, pair := range [][2]string{{"nobody", "person 01"}, {"person 01", "nobody"}} {
		if _, err := m.Between(t.Context(), pair[0], pair[1], 1); !errors.As(err, &unknown) || unknown.Name != "nobody" {
			t.Errorf("%v: error %v", pair, err)
		}
	}
	if _, err := m.Between(t.Context(), "person 01", "person 02", 0); err == nil {
		t.Error("no relations: no error")
	}
}
