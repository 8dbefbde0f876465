package search

import "tagnet/model/graph"

// Unreached is the distance of an entity that a search did not reach within its hops.
const Unreached = 255

// Searcher runs breadth-first searches over one graph. It keeps its queue between searches
// and is not for concurrent use: each worker has its own.
type Searcher struct {
	graph *graph.Graph
	queue []int32
}

// NewSearcher returns a searcher over g.
func NewSearcher(g *graph.Graph) *Searcher {
	return &Searcher{graph: g, queue: make([]int32, 0, g.Entities)}
}

// Search sets distances[o], for each of the V entities, to the fewest edges from source to
// o in the graph without what removal takes away, or to Unreached where that is more than
// hops. It follows the edges that leave an entity, which by reciprocity lead to the senders
// of those that enter it.
func (s *Searcher) Search(source int32, hops int, removal graph.Removal, distances []uint8) {
	for o := range distances {
		distances[o] = Unreached
	}
	distances[source] = 0
	queue := append(s.queue[:0], source)
	for next := 0; next < len(queue); next++ {
		u := queue[next]
		distance := distances[u] + 1
		if int(distance) > hops {
			break
		}
		neighbours, relations := s.graph.In(u)
		if removal.Touches(u) {
			for i, o := range neighbours {
				// An edge leaves the graph with its reciprocal, so the one that enters u tells.
				if distances[o] == Unreached && !removal.Removes(o, relations[i], u) {
					distances[o] = distance
					queue = append(queue, o)
				}
			}
			continue
		}
		for _, o := range neighbours {
			if distances[o] == Unreached {
				distances[o] = distance
				queue = append(queue, o)
			}
		}
	}
	s.queue = queue
}

// Keeps tells whether a removal changes no distance from its source: distances of the whole
// graph then serve the query. That is so when another edge still joins the two ends, or when
// they are the same entity.
func (s *Searcher) Keeps(removal graph.Removal) bool {
	if !removal.Active || removal.Source == removal.Answer {
		return true
	}
	neighbours, relations := s.graph.In(removal.Source)
	for i, o := range neighbours {
		if o == removal.Answer && !removal.Removes(o, relations[i], removal.Source) {
			return true
		}
	}
	return false
}
