package messages

import "tagnet/model/graph"

// gates finds, for the entities of one search, the neighbour of its source that all of their
// shortest paths go through: their gate. When the edges between the source and a neighbour
// leave the graph, it is exactly that gate's entities, the neighbour among them, that move away;
// so no entity moves for two neighbours.
//
// Gates are found from one level to the next, along the edges of the entities that have one, as long
// as there are such. In all, each edge of the graph is met at most twice.
type gates struct {
	graph *graph.Graph
	// of is, of the entities on the level that is being reached, the gate, noPath or manyGates; of
	// those before, passed of the gate.
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

// passed turns the gate of an entity into what stands for it once its level is done, and back.
func passed(gate int32) int32 { return manyGates - 1 - gate }

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
			s.of[o], s.link[o] = passed(o), noPath
			s.touched = append(s.touched, o)
		}
	}
	whole := true // so far all that are reached are touched
	for distance, from := 2, 0; distance <= hops && from < len(s.touched); distance++ {
		before := s.touched[from:]
		from = len(s.touched)
		s.reach(before, false, uint8(distance), distances)
		if whole = whole && s.edges(before) <= checked*int64(len(s.touched)-from); whole {
			s.reach(before, true, uint8(distance), distances)
		} else {
			s.check(s.touched[from:], uint8(distance), distances)
		}
		s.pass(s.touched[from:])
	}
}

// checked is how many edges check meets, about, until it knows better of an entity.
const checked = 4

// edges is the number of edges at those of a level that have many gates.
func (s *gates) edges(level []int32) (sum int64) {
	for _, o := range level {
		if s.of[o] == manyGates {
			sum += int64(s.graph.Degree(o))
		}
	}
	return sum
}

// reach hands on to the next level, at a distance, what gates those of a level have: those with
// one gate, or those with many.
func (s *gates) reach(before []int32, many bool, distance uint8, distances []uint8) {
	for _, u := range before {
		gate := s.of[u]
		if (gate == manyGates) != many {
			continue
		}
		if !many {
			gate = passed(gate)
		}
		neighbours, _ := s.graph.In(u)
		for _, o := range neighbours {
			known := s.of[o]
			switch {
			case !news(known, gate):
			case known >= 0:
				s.of[o] = manyGates
			case distances[o] == distance:
				s.of[o] = gate
				s.touched = append(s.touched, o)
			}
		}
	}
}

// news tells whether known is noPath, or a gate but not this one. That is rare, but where one
// comparison often holds and the other often fails, two branches would take most of the time.
func news(known, gate int32) bool {
	other := known ^ gate
	return (other|-other)&^(known+1) < 0
}

// check takes the gate from those of a level that have a shortest path past all gates too. It
// does the same as to reach them from the level before, for those that have many gates there:
// of the two ways, find takes the one that meets fewer edges.
func (s *gates) check(level []int32, distance uint8, distances []uint8) {
	for _, o := range level {
		if s.of[o] == manyGates {
			continue
		}
		neighbours, _ := s.graph.In(o)
		for _, u := range neighbours {
			if distances[u] == distance-1 && (s.of[u] == noPath || s.of[u] == manyGates) {
				s.of[o] = manyGates
				break
			}
		}
	}
}

// pass chains those of a level that have a gate.
func (s *gates) pass(level []int32) {
	for _, o := range level {
		if gate := s.of[o]; gate != manyGates {
			s.link[o], s.link[gate] = s.link[gate], o
			s.of[o] = passed(gate)
		}
	}
}
