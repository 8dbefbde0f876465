package ultra

import (
	"tagnet/model/graph"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
	"tagnet/model/window"
)

// Model is ULTRA over one graph. Its methods may be called concurrently.
type Model struct {
	graph   *graph.Graph
	kernel  kernel.Kernel
	weights *weights
	// meetings are the senders of the relation graph: relations, along types of edges.
	meetings kernel.Senders
	// layout has all entities in one level. Its rows, by ascending degree, are those of the ground states; layouts of queries
	// share its order.
	layout *window.Layout
}

// New returns the model with parameters p, which have the layout of Layout, over g. The meetings are those of the relations of g.
func New(p *parameters.Set[float32], g *graph.Graph, meetings *Meetings, k kernel.Kernel) *Model {
	m := &Model{graph: g, kernel: k, weights: newWeights(k, p), meetings: meetings.senders(), layout: window.NewLayout(g, k, nil)}
	m.layout.FillAll(graph.Removal{})
	m.layout.All() // lists the rows, which are then only read
	return m
}

// senders returns the edges of the relation graph. All are of the first kind.
func (m *Meetings) senders() (s kernel.Senders) {
	s.Offsets = append(s.Offsets, 0)
	for a := range int32(m.relations) {
		for kind, b := range m.Edges(a) {
			s.Rows, s.Relations = append(s.Rows, b), append(s.Relations, kind)
		}
		end := int32(len(s.Rows))
		s.Offsets = append(s.Offsets, end, end, end)
	}
	return s
}

// inverse returns the inverse of a relation.
func (m *Model) inverse(relation int32) int32 { return m.graph.Inverse(relation) }
