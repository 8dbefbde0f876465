package spec

import (
	"math"
	"slices"

	"tagnet/formats/hop"
)

// edge is an in-edge of an entity that the context determines.
type edge struct{ sender, relation int32 }

// activity is the set of updated entities and of messages of a layer.
type activity struct {
	// active is true for the entities that the layer updates.
	active []bool
	// edges are the in-edges whose messages an active entity aggregates, ordered by (sender,
	// relation). An active entity may have none.
	edges [][]edge
}

// byDistance returns the activity of layer t, by distance alone, and its counts.
func (p *Pass) byDistance(t int) (activity, Counts) {
	entities := p.model.graph.Entities
	l := activity{active: make([]bool, entities), edges: make([][]edge, entities)}
	var counts Counts
	for o := range int32(entities) {
		l.active[o] = p.isOpen(t, o)
		if l.active[o] {
			counts.Active++
		}
		for _, e := range p.edgesInside(o) {
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

// isOpen reports whether the window of o is open in layer t: always for policies without a window.
func (p *Pass) isOpen(t int, o int32) bool {
	c := p.model.configuration
	if !c.Windowed() {
		return p.inside(o)
	}
	return t-c.Delta <= p.distance(o) && p.distance(o) <= t
}

// admits reports whether an edge from u to o is in C(o). It is not if u is too far from the source for
// any path through it to be short enough.
func (p *Pass) admits(u, o int32) bool {
	c := p.model.configuration
	if !c.Windowed() {
		return true
	}
	return p.distance(u) < p.distance(o)+c.Delta
}

// distance returns the distance of o from the source. hop.Unreached is farther than all others.
func (p *Pass) distance(o int32) int {
	if p.Distances[o] == hop.Unreached {
		return math.MaxInt - math.MaxInt32 // so that a delta can be added
	}
	return int(p.Distances[o])
}

// inEdges returns the edges that enter o in the query's graph.
func (p *Pass) inEdges(o int32) []edge {
	var edges []edge
	senders, relations := p.model.graph.In(o)
	for i, u := range senders {
		if !p.model.graph.Removes(p.Query.Query, u, relations[i], o) {
			edges = append(edges, edge{u, relations[i]})
		}
	}
	return edges
}

// inside reports whether an entity is in the query's reach.
func (p *Pass) inside(o int32) bool { return p.Query.Inside == nil || p.Query.Inside[o] }

// edgesInside returns the edges of inEdges between entities inside the query's reach.
func (p *Pass) edgesInside(o int32) []edge {
	return slices.DeleteFunc(p.inEdges(o), func(e edge) bool { return !p.inside(o) || !p.inside(e.sender) })
}

// degree returns the number of edges that enter o in the query's graph, from outside its reach, too.
func (p *Pass) degree(o int32) int { return len(p.inEdges(o)) }

// missing returns rho(o), the number of in-edges of o that the window or the query's reach does not admit, each of
// which a copy of the degree message replaces; 0 where the model has no degree messages.
func (p *Pass) missing(o int32, edges []edge) int {
	if !p.model.configuration.DegreeMessages {
		return 0
	}
	return p.degree(o) - len(edges)
}
