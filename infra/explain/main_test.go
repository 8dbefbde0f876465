package main

import (
	"bytes"
	"slices"
	"testing"

	"tagnet/formats/tables"
	"tagnet/model/configuration"
	"tagnet/model/explanation"
	"tagnet/model/graph"
	"tagnet/model/kernel"
	"tagnet/model/kg"
	"tagnet/model/parameters"
	"tagnet/model/propagation"
)

// grandparents returns a trial of three generations, with the query that the rule of grandparents answers and its inverse.
func grandparents(t *testing.T) *trial {
	t.Helper()
	loaded, err := kg.New([]kg.Triple{
		{Head: "Ann", Relation: "parent_of", Tail: "Ben"}, {Head: "Ben", Relation: "parent_of", Tail: "Eve"}, {Head: "Ann", Relation: "spouse_of", Tail: "Tom"},
		{Head: "Eve", Relation: "lives_in", Tail: "Ost"}, {Head: "Tom", Relation: "lives_in", Tail: "Ost"}, {Head: "Ben", Relation: "grandparent_of", Tail: "Kim"},
	}, nil, []kg.Triple{{Head: "Ann", Relation: "grandparent_of", Tail: "Eve"}})
	if err != nil {
		t.Fatal(err)
	}
	c := configuration.Default()
	c.Layers, c.Dim = 3, 8
	d := &trial{options: options{split: "test", paths: 10, draws: 2, show: true}, loaded: loaded, view: loaded.Inference, configuration: c}
	if d.kernel, err = kernel.Named(""); err != nil {
		t.Fatal(err)
	}
	g := d.view.Graph
	d.weights = parameters.Initialize(parameters.Layout(c, g.RelationCount()), 1)
	explainer, err := explanation.New(g, nil, c, d.weights, d.kernel)
	if err != nil {
		t.Fatal(err)
	}
	d.worker = explainer.Worker()
	relation, ann, eve := int32(slices.Index(loaded.Relations, "grandparent_of")), d.entity("Ann"), d.entity("Eve")
	d.queries = []tables.Query{
		{Source: ann, Relation: relation, Answer: eve},
		{Source: eve, Relation: g.Inverse(relation), Answer: ann, Inverse: true},
	}
	return d
}

func (t *trial) entity(name string) int32 { return int32(slices.Index(t.view.Entities, name)) }

func TestInstancesOfRules(t *testing.T) {
	t.Parallel()
	d := grandparents(t)
	parent := int32(slices.Index(d.loaded.Relations, "parent_of"))
	for _, q := range d.queries {
		instances := d.instances("grandparent_of", q)
		if len(instances) != 1 || len(instances[0]) != 2 || !instances[0][graph.Fact{Head: d.entity("Ann"), Relation: parent, Tail: d.entity("Ben")}] {
			t.Errorf("instances of the rule for %+v are %v, want that of two parents", q, instances)
		}
	}
	path := explanation.Path{Edges: []propagation.Edge{{Sender: d.entity("Ann"), Relation: parent, Receiver: d.entity("Ben")}, {Sender: d.entity("Ben"), Relation: parent, Receiver: d.entity("Eve")}}}
	if !d.derives(path, "grandparent_of", d.queries[0]) || d.derives(path, "spouse_of", d.queries[0]) {
		t.Error("two parents should make a grandparent, and no spouse")
	}
	known, err := d.view.Answers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := d.confidence(known, path, d.queries[0].Relation); got != 1 {
		t.Errorf("two parents are a grandparent in a share of %g, want 1", got)
	}
}

func TestGraphWithoutFacts(t *testing.T) {
	t.Parallel()
	d := grandparents(t)
	parent := int32(slices.Index(d.loaded.Relations, "parent_of"))
	removed := graph.Fact{Head: d.entity("Ben"), Relation: parent, Tail: d.entity("Eve")}
	g, err := d.without(map[graph.Fact]bool{removed: true})
	if err != nil {
		t.Fatal(err)
	}
	if g.Edges() != d.view.Graph.Edges()-2 || g.Degree(removed.Tail) != d.view.Graph.Degree(removed.Tail)-1 {
		t.Errorf("%d edges without a fact, %d with it", g.Edges(), d.view.Graph.Edges())
	}
}

// TestExperiments runs everything on weights that were not trained.
func TestExperiments(t *testing.T) {
	t.Parallel()
	d := grandparents(t)
	var out bytes.Buffer
	for _, experiment := range []error{d.time(t.Context(), &out), d.compareWithRules(t.Context(), &out)} {
		if experiment != nil {
			t.Fatal(experiment)
		}
	}
	for _, want := range []string{"2 answers of test", "0.0% visit an entity twice", "2 answers follow from the graph"} {
		if !bytes.Contains(out.Bytes(), []byte(want)) {
			t.Errorf("no %q in %s", want, out.String())
		}
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for _, arguments := range [][]string{{"x"}, {"--queries", "0"}, {"--split", "train"}, {"--nothing"}, {"--workspace", t.TempDir()}} {
		if err := run(t.Context(), arguments, new(bytes.Buffer), new(bytes.Buffer)); err == nil {
			t.Errorf("%v is no error", arguments)
		}
	}
}
