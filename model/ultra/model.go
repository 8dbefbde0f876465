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
	// relations are the senders of the relation graph: relations, along types of edges.
	relations kernel.Senders
	// layout has all entities in one level. Its rows, by ascending degree, are those of the ground states; layouts of queries
	// share its order.
	layout *window.Layout
}

// New returns the model with parameters p, which have the layout of Layout, over g, whose relation graph is given.
func New(p *parameters.Set[float32], g *graph.Graph, between *relations.Graph, k kernel.Kernel) *Model {
	m := &Model{graph: g, kernel: k, weights: newWeights(k, p), relations: between.Senders(), layout: window.NewLayout(g, k, nil)}
	m.layout.FillAll(graph.Removal{})
	m.layout.All() // lists the rows, which are then only read
	return m
}

// inverse returns the inverse of a relation.
func (m *Model) inverse(relation int32) int32 { return m.graph.Inverse(relation) }
