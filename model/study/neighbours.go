package study

import (
	"slices"

	"tagnet/model/graph"
)

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
		senders, _ := g.In(o) // in ascending order
		at := len(n.senders)
		n.senders = append(n.senders, senders...)
		n.senders = n.senders[:at+len(slices.Compact(n.senders[at:]))]
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
