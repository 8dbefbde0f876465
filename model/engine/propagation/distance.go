package propagation

import (
	"tagnet/formats/hop"
	"tagnet/model/graph"
)

// distances holds the hops from the last query's source to every entity, for the policies that do
// not lay out a window. It searches when they are first needed and keeps them for as long as the
// queries share a source and a graph.
type distances struct {
	searcher *graph.Searcher
	hops     []uint8 // [V]
	current  bool    // hops belong to the last query
}

// Distance returns the fewest edges from the source of the last Forward to entity in that query's graph. reached is
// false, and hops 0, where entity is farther away than the model has layers, or outside the query's reach.
func (p *Propagator) Distance(entity int32) (hops int, reached bool) {
	if entity = p.local(entity); entity < 0 {
		return 0, false
	}
	return p.policy.distance(entity)
}

// searchedDistance is Propagator.Distance for policies that do not lay out a window.
func (p *runner) searchedDistance(entity int32) (hops int, reached bool) {
	distance := p.searched()[entity]
	if distance == hop.Unreached {
		return 0, false
	}
	return int(distance), true
}

// searched returns the distances of all entities in the last query's graph.
func (p *runner) searched() []uint8 {
	d := &p.distances
	if d.searcher == nil {
		d.searcher, d.hops = graph.NewSearcher(p.graph), make([]uint8, p.graph.Entities)
	}
	if !d.current {
		d.searcher.Search(p.query.Source, p.configuration.Layers, p.query.Query, d.hops)
		d.current = true
	}
	return d.hops
}
