package multisource

import "tagnet/model/graph"

// Neighbours are the edges of a graph without those that stand beside another between the same
// two entities: all that distances need. On WN18RR they are five of six.
type Neighbours struct {
	offsets []int64
	senders []int32
}

// NewNeighbours takes them out of a graph. They may be shared by searchers of all threads.
func NewNeighbours(g *graph.Graph) *Neighbours {
	n := &Neighbours{offsets: make([]int64, g.Entities+1), senders: make([]int32, 0, g.Edges())}
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

// NeighboursMemory bounds the bytes of the neighbours in a graph: 8 an entity, 4 an edge.
func NeighboursMemory(entities, edges int64) int64 { return 8*(entities+1) + 4*edges }

// Along has the searcher go along the neighbours of its graph in place of all edges. Levels
// count every edge, so a searcher that gathers them stays as it is.
func (s *Searcher) Along(n *Neighbours) {
	if !s.gather.Levels {
		s.hop.Offsets, s.hop.Senders = n.offsets, n.senders
	}
}
