package kg

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/graph"
)

var (
	train = []Triple{{"b", "likes", "a"}, {"a", "knows", "c"}, {"b", "likes", "a"}, {"b", "likes", "c"}}
	valid = []Triple{{"a", "likes", "d"}, {"b", "likes", "c"}} // the second is a training fact
	test  = []Triple{{"b", "likes", "d"}}
)

// TestNew has the entities a b c d and the relations knows likes, with inverses 2 and 3.
func TestNew(t *testing.T) {
	t.Parallel()
	k, err := New(train, valid, test)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, k.Train.Entities); diff != "" {
		t.Errorf("entities (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"knows", "likes"}, k.Relations); diff != "" {
		t.Errorf("relations (-want +got):\n%s", diff)
	}
	if g := k.Train.Graph; g.Entities != 4 || g.BaseRelations != 2 || g.Edges() != 6 || g.Degree(3) != 0 || k.Inductive() {
		t.Errorf("the graph has %d entities and %d edges, inductive %v; want 4 entities, and 6 edges of 3 training facts", g.Entities, g.Edges(), k.Inductive())
	}
	for split, want := range map[string][]graph.Query{
		"train": {
			{Source: 0, Relation: 0, Answer: 2}, {Source: 0, Relation: 3, Answer: 1}, {Source: 1, Relation: 1, Answer: 0},
			{Source: 1, Relation: 1, Answer: 2}, {Source: 2, Relation: 2, Answer: 0}, {Source: 2, Relation: 3, Answer: 1},
		},
		"valid": {
			{Source: 0, Relation: 1, Answer: 3}, {Source: 1, Relation: 1, Answer: 2},
			{Source: 2, Relation: 3, Answer: 1}, {Source: 3, Relation: 3, Answer: 0},
		},
		"test": {{Source: 1, Relation: 1, Answer: 3}, {Source: 3, Relation: 3, Answer: 1}},
	} {
		got, err := k.Queries(t.Context(), split)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("queries of %s (-want +got):\n%s", split, diff)
		}
	}
	all, err := k.View("test").Answers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int32{0, 2, 3}, all.Of(1, 1)); diff != "" {
		t.Errorf("answers of (b, likes) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int32{0, 1}, all.Of(3, 3)); diff != "" {
		t.Errorf("answers of (d, ~likes) (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int32{0, 2}, k.Train.Graph.Answers(1, 1)); diff != "" {
		t.Errorf("training answers of (b, likes) (-want +got):\n%s", diff)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	if _, err := New(nil, valid, test); err == nil {
		t.Error("no error without training facts")
	}
	if _, err := New([]Triple{{"a", "r", "b"}, {"a", "~r", "b"}}, nil, nil); err == nil {
		t.Error("no error for a relation that looks like an inverse")
	}
	_, err := New(train, valid, []Triple{{"a", "hates", "b"}})
	var unknown *UnknownNameError
	if !errors.As(err, &unknown) || unknown.Kind != "relation" || unknown.Name != "hates" {
		t.Errorf("a relation that is in no training fact: %v", err)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	l := NewLookup([]string{"Ann", "Anna", "Bert"}, []string{"knows", "likes"})
	q, err := l.Query(t.Context(), "Bert", "likes", true)
	if want := (graph.Query{Source: 2, Relation: 3, Answer: graph.None}); err != nil || q != want {
		t.Errorf("query %+v, %v; want %+v", q, err, want)
	}
	_, err = l.Query(t.Context(), "anna", "likes", false)
	want := &UnknownNameError{Kind: "entity", Name: "anna", Closest: []string{"Anna", "Ann", "Bert"}}
	var got *UnknownNameError
	if !errors.As(err, &got) {
		t.Fatalf("error %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	if want := `unknown entity "anna"; closest: "Anna", "Ann", "Bert"`; err.Error() != want {
		t.Errorf("error %q, want %q", err, want)
	}
	alike := UnknownNameError{Kind: "entity", Name: "Zoe\u0308", Closest: []string{"Zo\u00eb"}}
	if got, want := alike.Error(), `unknown entity "Zoe\u0308"; closest: "Zo\u00eb"`; got != want {
		t.Errorf("error %s of names that look alike, want %s", got, want)
	}
}
