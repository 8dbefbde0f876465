package messages

import "tagnet/model/graph"

// gates finds, for the entities of one search, the neighbour of its source that all of their
// shortest paths go through: their gate. When the edges between the source and a neighbour
// leave the graph, it is exactly that gate's entities, the neighbour among them, that move away;
// so no entity moves for two neighbours.
//
// Gates are found from one level to the next, along the edges of the entities that have one.
// Most paths soon meet, so that is little: in all at most twice the edges of the graph.
type gates struct {
	graph *graph.Graph
	// of is an entity's gate, or noPath or manyGates.
	of []int32
	// link joins the entities of a gate in a chain that begins with the gate itself.
	link []int32
	// touched are the entities whose place in of is not noPath, level by level.
	touched []int32
}

const (
	noPath    = -1 // no path through a gate was found; in link, the end of a chain
	manyGates = -2 // no gate is on all of the shortest paths
)

// newGates holds 12 bytes an entity.
func newGates(g *graph.Graph) gates {
	all := gates{graph: g, of: make([]int32, g.Entities), link: make([]int32, g.Entities), touched: make([]int32, 0, g.Entities)}
	for o := range all.of {
		all.of[o] = noPath
	}
	return all
}

// find replaces the gates by those of a source, for the entities up to hops from it.
func (s *gates) find(source int32, distances []uint8, hops int) {
	for _, o := range s.touched {
		s.of[o] = noPath
	}
	s.touched = s.touched[:0]
	neighbours, _ := s.graph.In(source)
	for _, o := range neighbours {
		if o != source && s.of[o] == noPath {
			s.of[o], s.link[o] = o, noPath
			s.touched = append(s.touched, o)
		}
	}
	for distance, from := 2, 0; distance <= hops && from < len(s.touched); distance++ {
		before := s.touched[from:]
		from = len(s.touched)
		s.reach(before, uint8(distance), distances)
		s.settle(s.touched[from:], uint8(distance), distances)
	}
}

// reach hands the gates of a level on to the next, at a distance.
func (s *gates) reach(before []int32, distance uint8, distances []uint8) {
	for _, u := range before {
		gate := s.of[u]
		if gate == manyGates {
			continue
		}
		neighbours, _ := s.graph.In(u)
		for _, o := range neighbours {
			if distances[o] != distance || s.of[o] == gate {
				continue
			}
			if s.of[o] == noPath {
				s.of[o] = gate
				s.touched = append(s.touched, o)
				continue
			}
			s.of[o] = manyGates
		}
	}
}

// settle takes the gate from those of a level that have a shortest path past all gates too,
// and chains the others.
func (s *gates) settle(level []int32, distance uint8, distances []uint8) {
	for _, o := range level {
		gate := s.of[o]
		if gate == manyGates {
			continue
		}
		if distance > 2 && s.bypassed(o, distance, distances) { // at distance 1 all are gates
			s.of[o] = manyGates
			continue
		}
		s.link[o], s.link[gate] = s.link[gate], o
	}
}

// bypassed tells whether a parent of o has no gate.
func (s *gates) bypassed(o int32, distance uint8, distances []uint8) bool {
	neighbours, _ := s.graph.In(o)
	for _, u := range neighbours {
		if distances[u] == distance-1 && s.of[u] < 0 {
			return true
		}
	}
	return false
}
