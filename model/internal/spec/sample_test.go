package spec

import (
	"math/rand/v2"
	"testing"

	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// sampleFacts returns random facts with a loop, parallel relations, a chain longer than the layers, and
// an entity without facts.
func sampleFacts(seed uint64, entities, relations int) []graph.Fact {
	random := rand.New(rand.NewPCG(seed, 1))
	facts := []graph.Fact{{Head: 1, Relation: 0, Tail: 1}, {Head: 0, Relation: 0, Tail: 1}, {Head: 0, Relation: 1, Tail: 1},
		{Head: 0, Relation: 1, Tail: 2}, {Head: 3, Relation: 0, Tail: 0}}
	chain := entities - 6
	for o := chain; o < entities-2; o++ {
		facts = append(facts, graph.Fact{Head: int32(o), Relation: int32(random.IntN(relations)), Tail: int32(o + 1)})
	}
	for range 2 * chain {
		facts = append(facts, graph.Fact{
			Head: int32(random.IntN(chain + 1)), Relation: int32(random.IntN(relations)), Tail: int32(random.IntN(chain + 1)),
		})
	}
	return facts
}

func sampleGraph(t *testing.T, seed uint64, entities, relations int) *graph.Graph {
	t.Helper()
	g, err := graph.New(entities, relations, sampleFacts(seed, entities, relations))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// sampleParameters returns normally distributed parameters with standard deviation 1/2.
func sampleParameters(c configuration.Configuration, g *graph.Graph, seed uint64) *parameters.Set[float64] {
	random := rand.New(rand.NewPCG(seed, 2))
	p := parameters.NewSet[float64](parameters.Layout(c, g.RelationCount()))
	for _, tensor := range p.Tensors {
		for i := range tensor.Data {
			tensor.Data[i] = random.NormFloat64() / 2
		}
	}
	return p
}

func newModel(t *testing.T, g *graph.Graph, c configuration.Configuration, p *parameters.Set[float64]) *Model {
	t.Helper()
	m, err := New(g, c, p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// small returns a configuration that is quick to differentiate.
func small() configuration.Configuration {
	c := configuration.Default()
	c.Layers, c.Dim, c.Delta, c.NodeRatio = 4, 4, 1, 0.4
	return c
}

// without returns the query that a fact answers, in the graph without it or without all edges between its ends.
func without(f graph.Fact, oneHop bool) graph.Query {
	q := graph.Query{Source: f.Head, Relation: f.Relation, Answer: f.Tail, Removal: graph.RemoveFact}
	if oneHop {
		q.Removal = graph.RemoveOneHop
	}
	return q
}
