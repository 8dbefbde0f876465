package ultra

import (
	"tagnet/model/graph"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
	"tagnet/model/relations"
	"tagnet/model/window"
)

// Model is ULTRA over one graph. Its methods may be called concurrently.
type Model struct {
	graph   *graph.Graph
	kernel  kernel.Kernel
	weights *weights
	// relations are the source of the relations' states and of the tables of messages.
	relations relations.Source
	// layout has all entities in one level. Its rows, by ascending degree, are those of the ground states; layouts of queries
	// share its order.
	layout *window.Layout
}

// New returns the model with parameters p, which have the layout of Layout, over g. between is the graph of the relations of g, or nil: then it is
// made from g.
func New(p *parameters.Set[float32], g *graph.Graph, between *relations.Graph, k kernel.Kernel) *Model {
	m := &Model{graph: g, kernel: k, weights: newWeights(k, p), relations: relations.New(g, between, Configuration(), false), layout: window.NewLayout(g, k, nil)}
	m.relations.Load(k, p)
	m.layout.FillAll(graph.Removal{})
	m.layout.All() // lists the rows, which are then only read
	return m
}

// inverse returns the inverse of a relation.
func (m *Model) inverse(relation int32) int32 { return m.graph.Inverse(relation) }
