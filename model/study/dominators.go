package study

import "tagnet/model/graph"

// dominators finds, for the entities of one search, the neighbor of the source that is on all of their shortest paths:
// their dominator. If the edges between the source and a neighbor leave the graph, exactly the entities that it
// dominates, itself among them, move away. So no entity moves for two neighbors.
//
// Dominators are found level by level, along the edges of entities that have one, until none has.
// In all, each edge of the graph is visited at most twice.
type dominators struct {
	graph *graph.Graph
	// dominator is, for the entities of the level being reached, the dominator, none or several; for entities
	// of levels before, finished of the dominator.
	dominator []int32
	// next chains the entities of a dominator, from the dominator itself on.
	next []int32
	// touched are the entities for which dominator is not none, level by level.
	touched []int32
}

const (
	none    = -1 // no path through a dominator was found; in next, the end of a chain
	several = -2 // no dominator is on all shortest paths
)

// finished maps the dominator of an entity to the value that marks its level as complete, and back.
func finished(dominator int32) int32 { return several - 1 - dominator }

// newDominators allocates 12 bytes an entity.
func newDominators(g *graph.Graph) dominators {
	d := dominators{graph: g, dominator: make([]int32, g.Entities), next: make([]int32, g.Entities), touched: make([]int32, 0, g.Entities)}
	for o := range d.dominator {
		d.dominator[o] = none
	}
	return d
}

// find finds the dominators of the entities up to hops from a source.
func (s *dominators) find(source int32, distances []uint8, hops int) {
	for _, o := range s.touched {
		s.dominator[o] = none
	}
	s.touched = s.touched[:0]
	neighbors, _ := s.graph.In(source)
	for _, o := range neighbors {
		if o != source && s.dominator[o] == none {
			s.dominator[o], s.next[o] = finished(o), none
			s.touched = append(s.touched, o)
		}
	}
	complete := true // every entity reached so far is touched
	for distance, first := 2, 0; distance <= hops && first < len(s.touched); distance++ {
		before := s.touched[first:]
		first = len(s.touched)
		s.reach(before, false, uint8(distance), distances)
		if complete = complete && s.edgesOfSeveral(before) <= edgesPerCheck*int64(len(s.touched)-first); complete {
			s.reach(before, true, uint8(distance), distances)
		} else {
			s.check(s.touched[first:], uint8(distance), distances)
		}
		s.finish(s.touched[first:])
	}
}

// edgesPerCheck is about how many edges check visits until it decides an entity.
const edgesPerCheck = 4

// edgesOfSeveral returns the number of edges at the entities of a level that have several dominators.
func (s *dominators) edgesOfSeveral(level []int32) (sum int64) {
	for _, o := range level {
		if s.dominator[o] == several {
			sum += int64(s.graph.Degree(o))
		}
	}
	return sum
}

// reach passes the dominators of a level to the next, at a distance: from the entities with one
// dominator or, with ofSeveral, from the entities with several.
func (s *dominators) reach(before []int32, ofSeveral bool, distance uint8, distances []uint8) {
	for _, u := range before {
		dominator := s.dominator[u]
		if (dominator == several) != ofSeveral {
			continue
		}
		if !ofSeveral {
			dominator = finished(dominator)
		}
		neighbors, _ := s.graph.In(u)
		for _, o := range neighbors {
			known := s.dominator[o]
			switch {
			case !changes(known, dominator):
			case known >= 0:
				s.dominator[o] = several
			case distances[o] == distance:
				s.dominator[o] = dominator
				s.touched = append(s.touched, o)
			}
		}
	}
}

// changes reports whether known is none, or a dominator other than this one. One comparison often
// holds and the other often fails, so that two branches would take most of the time.
func changes(known, dominator int32) bool {
	other := known ^ dominator
	return (other|-other)&^(known+1) < 0
}

// check removes the dominator of the entities of a level that have a shortest path around it. It has the same effect as
// reach from the entities with several dominators; find uses the one that visits fewer edges.
func (s *dominators) check(level []int32, distance uint8, distances []uint8) {
	for _, o := range level {
		if s.dominator[o] == several {
			continue
		}
		neighbors, _ := s.graph.In(o)
		for _, u := range neighbors {
			if distances[u] == distance-1 && (s.dominator[u] == none || s.dominator[u] == several) {
				s.dominator[o] = several
				break
			}
		}
	}
}

// finish adds the entities of a level to the chains of their dominators.
func (s *dominators) finish(level []int32) {
	for _, o := range level {
		if dominator := s.dominator[o]; dominator != several {
			s.next[o], s.next[dominator] = s.next[dominator], o
			s.dominator[o] = finished(dominator)
		}
	}
}
