package reference

import (
	"math"

	"tagnet/model/configuration"
)

// edge is one in-edge of an entity that is known from where it stands.
type edge struct{ sender, relation int32 }

// listening is who listens to whom in a layer.
type listening struct {
	// active tells of each entity whether it updates its state.
	active []bool
	// edges are those of which an active entity aggregates the messages, ordered by (sender,
	// relation). An active entity may have none.
	edges [][]edge
}

// listen decides who listens to whom in layer t, by distance alone, and counts it.
func (p *Pass) listen(t int) (listening, Counts) {
	entities := p.model.graph.Entities
	l := listening{active: make([]bool, entities), edges: make([][]edge, entities)}
	var counts Counts
	for o := range int32(entities) {
		l.active[o] = p.awake(t, o)
		if l.active[o] {
			counts.Active++
		}
		for _, e := range p.inEdges(o) {
			sends, empty := l.active[o] && p.admits(e.sender, o), p.distance(e.sender) > t-1
			switch {
			case sends && empty:
				counts.Kept++
				counts.KeptEmpty++
			case sends:
				counts.Kept++
			case empty:
				counts.PrunedEmpty++
			default:
				counts.PrunedRedundant++
			}
			if sends {
				l.edges[o] = append(l.edges[o], e)
			}
		}
	}
	return l, counts
}

// awake tells whether the window of o is open in layer t. Policies without a window have
// everyone awake.
func (p *Pass) awake(t int, o int32) bool {
	c := p.model.configuration
	if !c.Windowed() {
		return true
	}
	return t-c.Delta <= p.distance(o) && p.distance(o) <= t
}

// admits tells whether an edge from u to o is in C(o): o does not listen to those who are
// too far from the source to bring it a path that is short enough.
func (p *Pass) admits(u, o int32) bool {
	c := p.model.configuration
	if !c.Windowed() {
		return true
	}
	return p.distance(u) < p.distance(o)+c.Delta
}

// distance is that of o from the source; unreached is farther than everything.
func (p *Pass) distance(o int32) int {
	if p.Distances[o] == Unreached {
		return math.MaxInt - math.MaxInt32 // so that a delta can be added
	}
	return int(p.Distances[o])
}

// inEdges are the edges that enter o in the query's graph.
func (p *Pass) inEdges(o int32) []edge {
	var edges []edge
	senders, relations := p.model.graph.In(o)
	for i, u := range senders {
		if !p.Query.Removal.Removes(u, relations[i], o) {
			edges = append(edges, edge{u, relations[i]})
		}
	}
	return edges
}

// degree is the number of edges that enter o in the query's graph.
func (p *Pass) degree(o int32) int { return len(p.inEdges(o)) }

// absent is rho(o), the number of messages that the window keeps from o, for which copies of
// the degree message stand in; 0 where the model has no degree messages.
func (p *Pass) absent(o int32, heard []edge) int {
	if !p.model.configuration.DegreeMessages || p.model.configuration.Policy == configuration.PolicyFull {
		return 0
	}
	return p.degree(o) - len(heard)
}
