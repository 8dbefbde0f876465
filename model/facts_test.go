package model_test

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"

	"tagnet/model"
)

// TestKnownFacts compares the relations and the known answers of every entity with the facts that the
// model was trained on.
func TestKnownFacts(t *testing.T) {
	t.Parallel()
	ctx, m := t.Context(), trained(t)
	want := map[string]map[string][]string{}
	add := func(entity, relation, neighbor string) {
		if want[entity] == nil {
			want[entity] = map[string][]string{}
		}
		want[entity][relation] = append(want[entity][relation], neighbor)
	}
	facts := family()
	for _, f := range facts {
		add(f.Head, f.Relation, f.Tail)
		add(f.Tail, "~"+f.Relation, f.Head)
	}
	sum := 0
	for _, entity := range m.Entities() {
		counts, err := m.RelationsOf(ctx, entity)
		if err != nil {
			t.Fatal(err)
		}
		if len(counts) != len(want[entity]) || !slices.IsSortedFunc(counts, func(a, b model.RelationCount) int {
			return cmp.Or(cmp.Compare(b.Facts, a.Facts), strings.Compare(a.Relation, b.Relation))
		}) {
			t.Errorf("%s: relations %v, want those of %v", entity, counts, want[entity])
		}
		for _, c := range counts {
			sum += c.Facts
			neighbors := want[entity][c.Relation]
			slices.Sort(neighbors)
			for offset := range len(neighbors) + 2 {
				for limit := range len(neighbors) + 2 {
					part := neighbors[min(offset, len(neighbors)):min(offset+limit, len(neighbors))]
					got, all, err := m.Known(ctx, model.Query{Source: entity, Relation: c.Relation}, offset, limit)
					if err != nil || all != len(neighbors) || all != c.Facts || !slices.Equal(got, part) {
						t.Errorf("%s %s ? from %d, at most %d: %q of %d, %v; want %q of %d", entity, c.Relation, offset, limit, got, all, err, part,
							len(neighbors))
					}
				}
			}
		}
		if types, err := m.TypesOf(ctx, entity); len(types) > 0 || err != nil {
			t.Errorf("%s has the types %q, %v", entity, types, err)
		}
	}
	if sum != 2*len(facts) {
		t.Errorf("%d facts in both directions, want %d", sum, 2*len(facts))
	}
	if got, all, err := m.Known(ctx, model.Query{Source: "person 30", Relation: "parent_of"}, 0, 5); len(got) > 0 || all != 0 || err != nil {
		t.Errorf("without facts: %q of %d, %v", got, all, err)
	}
	_, relationsErr := m.RelationsOf(ctx, "person 3")
	_, _, knownErr := m.Known(ctx, model.Query{Source: "person 03", Relation: "parent"}, 0, 5)
	_, typesErr := m.TypesOf(ctx, "person 3")
	for i, err := range []error{relationsErr, knownErr, typesErr} {
		if unknown := new(model.UnknownNameError); !errors.As(err, &unknown) || unknown.Kind != []string{"entity", "relation", "entity"}[i] {
			t.Errorf("an unknown name: %v", err)
		}
	}
}

// TestRelationsLike has entities that share relations with others, and some that do not.
func TestRelationsLike(t *testing.T) {
	t.Parallel()
	m, err := model.LoadFacts(t.Context(), model.Facts{Train: []model.Triple{
		{Head: "ann", Relation: "treats", Tail: "pat"}, {Head: "bob", Relation: "treats", Tail: "pat"}, {Head: "bob", Relation: "cures", Tail: "pat"},
		{Head: "cleo", Relation: "treats", Tail: "pat"}, {Head: "cleo", Relation: "cures", Tail: "pat"}, {Head: "cleo", Relation: "married", Tail: "bob"},
		{Head: "aspirin", Relation: "made_of", Tail: "acid"},
	}}, "zero")
	if err != nil {
		t.Fatal(err)
	}
	for entity, want := range map[string][]string{
		"ann": {"cures", "married", "~married"}, "aspirin": {}, "pat": {}, "bob": {"married"}, "acid": {},
	} {
		got, err := m.RelationsLike(t.Context(), entity)
		if err != nil {
			t.Fatal(err)
		}
		if diff := slices.Compare(want, got); diff != 0 {
			t.Errorf("%s: %q, want %q", entity, got, want)
		}
	}
	if _, err := m.RelationsLike(t.Context(), "nobody"); !errors.As(err, new(*model.UnknownNameError)) {
		t.Errorf("an unknown entity: %v", err)
	}
}
