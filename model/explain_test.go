package model_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
)

func TestPathOnOneLine(t *testing.T) {
	t.Parallel()
	path := model.Path{Weight: 0.2749, Steps: []model.Step{
		{From: "Joan Eibe", Relation: "parent_of", To: "Lina"},
		{From: "Lina", Relation: "parent_of", Inverse: true, To: "Per"},
	}}
	const want = "0.27  Joan Eibe -parent_of-> Lina -~parent_of-> Per"
	if got := path.String(); got != want {
		t.Errorf("path is %q, want %q", got, want)
	}
}

func TestFormatWeight(t *testing.T) {
	t.Parallel()
	for weight, want := range map[float64]string{0.2: "0.20", -0.0764: "-0.076", 1.04: "1.0", 9.96: "10", 12.4: "12", 1234: "1234", 0: "0.0", 1e-6: "1.0e-06"} {
		if got := model.FormatWeight(weight); got != want {
			t.Errorf("weight %g is %q, want %q", weight, got, want)
		}
	}
}

// TestExplain explains a grandparent that is no fact: the rule that derives it is the first reason, for a query of
// either direction, and with Walks paths follow.
func TestExplain(t *testing.T) {
	t.Parallel()
	m := trained(t)
	const want = "parent_of, parent_of: so in 23 of 23; here person 05 -parent_of-> person 06 -parent_of-> person 07"
	for answer, query := range map[string]model.Query{
		"person 07": {Source: "person 05", Relation: "grandparent_of"},
		"person 05": {Source: "person 07", Relation: "~grandparent_of"},
	} {
		found, err := m.Explain(t.Context(), query, answer, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Reasons) == 0 || found.Reasons[0].String() != want || len(found.Paths) > 0 {
			t.Errorf("%v: reasons %v and %d paths, want %s alone", query, found.Reasons, len(found.Paths), want)
		}
		walked, err := m.Explain(t.Context(), query, answer, 3, model.Walks())
		if err != nil {
			t.Fatal(err)
		}
		paths := walked.Paths
		if diff := cmp.Diff(found.Reasons, walked.Reasons); diff != "" || len(paths) != 3 ||
			!(paths[0].Weight > 0 && paths[0].Weight >= paths[1].Weight && paths[1].Weight >= paths[2].Weight) {
			t.Errorf("%v: paths %v, want three, the best first, beside the same reasons %s", query, paths, diff)
		}
	}
}

// TestExplainSymmetric checks that the reverse of a symmetric relation's fact is the first reason.
func TestExplainSymmetric(t *testing.T) {
	t.Parallel()
	var facts model.Facts
	for i := range 20 {
		a, b := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)
		facts.Train = append(facts.Train, model.Triple{Head: a, Relation: "married_to", Tail: b})
		if i > 0 {
			facts.Train = append(facts.Train, model.Triple{Head: b, Relation: "married_to", Tail: a})
		}
	}
	m, err := model.LoadFacts(t.Context(), facts, "zero")
	if err != nil {
		t.Fatal(err)
	}
	found, err := m.Explain(t.Context(), model.Query{Source: "b0", Relation: "married_to"}, "a0", 3)
	const want = "~married_to: so in 38 of 38; here b0 -~married_to-> a0"
	if err != nil || len(found.Reasons) == 0 || found.Reasons[0].String() != want {
		t.Errorf("reasons %v, error %v, want %s", found.Reasons, err, want)
	}
}

// TestExplainKnownFacts explains facts of the graph, none of them by itself.
func TestExplainKnownFacts(t *testing.T) {
	t.Parallel()
	m, explained := trained(t), 0
	for _, f := range family() {
		for _, inverse := range []bool{false, true} {
			query, answer := model.Query{Source: f.Head, Relation: f.Relation}, f.Tail
			if inverse {
				query, answer = model.Query{Source: f.Tail, Relation: f.Relation, Inverse: true}, f.Head
			}
			found, err := m.Explain(t.Context(), query, answer, 20, model.Walks())
			if err != nil {
				t.Fatal(err)
			}
			explained += min(1, len(found.Paths))
			for _, p := range found.Paths {
				if slices.Contains(p.Steps, model.Step{From: f.Head, Relation: f.Relation, To: f.Tail}) {
					t.Errorf("%v is explained by itself: %v", f, p)
				}
			}
			for _, r := range found.Reasons {
				if slices.Contains(r.Steps, model.Step{From: f.Head, Relation: f.Relation, To: f.Tail}) {
					t.Errorf("%v is a reason of itself: %v", f, r)
				}
			}
		}
	}
	if explained < 50 {
		t.Errorf("%d facts are explained", explained)
	}
}

// TestExplainIsSimple checks that paths visit no entity twice and that none repeats another through an inverse fact,
// unless all walks are wanted.
func TestExplainIsSimple(t *testing.T) {
	t.Parallel()
	m := trained(t)
	query := model.Query{Source: "person 05", Relation: "grandparent_of"}
	count := func(options ...model.ExplainOption) (paths, returning, repeated int) {
		var all []model.Path
		for _, answer := range m.Entities() {
			found, err := m.Explain(t.Context(), query, answer, 200, options...)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, found.Paths...)
		}
		seen := map[string]bool{}
		for _, p := range all {
			visited, form, returns := map[string]bool{p.Steps[0].From: true}, "", false
			for _, s := range p.Steps {
				returns = returns || visited[s.To]
				visited[s.To] = true
				form += s.Relation + " " + s.To + " "
			}
			if returns {
				returning++
			}
			if seen[form] {
				repeated++
			}
			seen[form] = true
		}
		return len(all), returning, repeated
	}
	if paths, returning, repeated := count(); paths < 1 || returning > 0 || repeated > 0 {
		t.Errorf("of %d paths %d return to an entity and %d repeat another, want none", paths, returning, repeated)
	}
	if paths, returning, _ := count(model.Walks()); returning == 0 {
		t.Errorf("none of %d walks returns to an entity", paths)
	}
}

func TestExplainRefuses(t *testing.T) {
	t.Parallel()
	m := trained(t)
	var unknown *model.UnknownNameError
	if _, err := m.Explain(t.Context(), model.Query{Source: "person 05", Relation: "parent_of"}, "person 99", 3); !errors.As(err, &unknown) ||
		unknown.Name != "person 99" {
		t.Errorf("an unknown answer: error is %v", err)
	}
	if _, err := m.Explain(t.Context(), model.Query{Source: "person 05", Relation: "parent_of"}, "person 06", 0); err == nil {
		t.Error("no path asked for is no error")
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Explain(canceled, model.Query{Source: "person 05", Relation: "parent_of"}, "person 06", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled context: error is %v", err)
	}
}
