package graph

import (
	"slices"

	"tagnet/formats/hop"
)

// Searcher runs breadth-first searches over one graph. It reuses its lists and is not for concurrent
// use: each worker has its own.
//
// A step visits the neighbors of the frontier (top-down), or, where that is less work, the neighbors of every unreached
// entity until one is in the frontier (bottom-up; Beamer, Asanović and Patterson, SC 2012). In a knowledge graph the
// second step often reaches the hubs; the third would then visit nearly every edge.
//
// Memory: 8 bytes per entity.
type Searcher struct {
	graph     *Graph
	reached   []int32 // in the order of the search, the frontier last
	unreached []int32 // as of some earlier step
	// bottomUpGain is the number of unreached entities that a bottom-up step processes in the time that
	// a top-down step takes for one of the frontier. Top-down visits all edges, bottom-up stops at
	// the first neighbor in the frontier, and entities that are reached late have few neighbors: the
	// gain was 8 for FB15k-237, with 37 edges an entity.
	bottomUpGain float64
}

// NewSearcher returns a searcher over g.
func NewSearcher(g *Graph) *Searcher {
	gain := 0.2 * float64(g.Edges()) / float64(max(g.Entities, 1))
	return &Searcher{graph: g, reached: make([]int32, 0, g.Entities), bottomUpGain: gain}
}

// Search sets distances[o], for each of the V entities, to the fewest edges from source to o in the
// graph of q, which need not be asked from there, or to hop.Unreached where that is more than hops.
func (s *Searcher) Search(source int32, hops int, q Query, distances []uint8) {
	for o := range distances {
		distances[o] = hop.Unreached
	}
	distances[source] = 0
	s.reached, s.unreached = append(s.reached[:0], source), s.unreached[:0]
	for distance, frontier := 1, 0; distance <= hops && frontier < len(s.reached) && len(s.reached) < len(distances); distance++ {
		begin := frontier
		frontier = len(s.reached)
		if float64(frontier-begin)*s.bottomUpGain > float64(len(distances)-frontier) {
			s.bottomUp(uint8(distance), q, distances)
		} else {
			s.topDown(s.reached[begin:], uint8(distance), q, distances)
		}
	}
}

// topDown reaches the neighbors of the frontier.
func (s *Searcher) topDown(frontier []int32, distance uint8, q Query, distances []uint8) {
	reached := s.reached
	for _, u := range frontier {
		neighbors, relations := s.graph.In(u)
		if q.Touches(u) {
			for i, o := range neighbors {
				// An edge is removed together with its inverse, the one that enters u.
				if distances[o] == hop.Unreached && !s.graph.Removes(q, o, relations[i], u) {
					distances[o] = distance
					reached = append(reached, o)
				}
			}
			continue
		}
		// Every neighbor is written, and overwritten by the next unless it was unreached, so that no
		// branch can be mispredicted.
		n := len(reached)
		reached = slices.Grow(reached, len(neighbors))[:n+len(neighbors)]
		for _, o := range neighbors {
			before := distances[o]
			distances[o] = min(before, distance)
			reached[n] = o
			n += int(before >> 7) // 1 where it was unreached
		}
		reached = reached[:n]
	}
	s.reached = reached
}

// bottomUp reaches the unreached entities that have a neighbor in the frontier.
func (s *Searcher) bottomUp(distance uint8, q Query, distances []uint8) {
	if len(s.unreached) == 0 {
		for o, known := range distances {
			if known == hop.Unreached {
				s.unreached = append(s.unreached, int32(o))
			}
		}
	}
	rest := s.unreached[:0]
	for _, o := range s.unreached {
		switch {
		case distances[o] != hop.Unreached: // reached by a top-down step since
		case s.adjoins(o, distance-1, q, distances):
			distances[o] = distance
			s.reached = append(s.reached, o)
		default:
			rest = append(rest, o)
		}
	}
	s.unreached = rest
}

// adjoins reports whether o has a neighbor at a distance.
func (s *Searcher) adjoins(o int32, distance uint8, q Query, distances []uint8) bool {
	neighbors, relations := s.graph.In(o)
	if q.Touches(o) {
		for i, u := range neighbors {
			if distances[u] == distance && !s.graph.Removes(q, u, relations[i], o) {
				return true
			}
		}
		return false
	}
	for _, u := range neighbors {
		if distances[u] == distance {
			return true
		}
	}
	return false
}
