package study

import "tagnet/model/graph"

// Neighbors are the edges of a graph, with one edge for all parallel ones: distances need no more.
// On WN18RR they are five sixths of the edges.
type Neighbors struct {
	offsets []int64
	senders []int32
}

// NewNeighbors returns the neighbors of a graph. Searchers of all workers may share them.
func NewNeighbors(g *graph.Graph) *Neighbors {
	n := &Neighbors{offsets: make([]int64, g.Entities+1), senders: make([]int32, 0, g.Edges())}
	for o := range int32(g.Entities) {
		last := int32(-1)
		senders, _ := g.In(o)
		for _, u := range senders { // in ascending order
			if u != last {
				n.senders = append(n.senders, u)
			}
			last = u
		}
		n.offsets[o+1] = int64(len(n.senders))
	}
	return n
}

// visitNeighbors makes the searcher visit the neighbors of its graph instead of all edges. It has no effect on
// a searcher that gathers levels, which count every edge.
func (s *Searcher) visitNeighbors(n *Neighbors) {
	if !s.gather.Levels {
		s.hop.Offsets, s.hop.Senders = n.offsets, n.senders
	}
}
