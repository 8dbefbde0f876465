package multisource

import (
	"fmt"
	"math/bits"

	"tagnet/model/graph"
)

// Width is how many sources one search takes.
const Width = 64

// Unreached is the distance of an entity that a search did not reach within its hops.
const Unreached = 255

// Searcher holds three words an entity: 24 V bytes. It is not for concurrent use.
type Searcher struct {
	graph                *graph.Graph
	seen, frontier, next []uint64
}

// NewSearcher returns a searcher over g.
func NewSearcher(g *graph.Graph) *Searcher {
	return &Searcher{
		graph:    g,
		seen:     make([]uint64, g.Entities),
		frontier: make([]uint64, g.Entities),
		next:     make([]uint64, g.Entities),
	}
}

// Search sets distances[i][o] to the fewest edges from sources[i] to o, or to Unreached where
// that is more than hops. There are at most Width sources, each with a row of V distances;
// the same source may stand twice.
func (s *Searcher) Search(sources []int32, hops int, distances [][]uint8) error {
	if len(sources) > Width || len(distances) != len(sources) {
		return fmt.Errorf("%d sources with %d rows of distances: want at most %d, a row each", len(sources), len(distances), Width)
	}
	if hops < 0 || hops >= Unreached {
		return fmt.Errorf("hops is %d: want 0 to %d", hops, Unreached-1)
	}
	clear(s.seen)
	clear(s.frontier)
	for i, source := range sources {
		if source < 0 || int(source) >= s.graph.Entities {
			return fmt.Errorf("source %d is outside 0..%d", source, s.graph.Entities-1)
		}
		if len(distances[i]) != s.graph.Entities {
			return fmt.Errorf("row %d has %d distances: want one for each of %d entities", i, len(distances[i]), s.graph.Entities)
		}
		for o := range distances[i] {
			distances[i][o] = Unreached
		}
		distances[i][source] = 0
		s.seen[source] |= 1 << i
		s.frontier[source] |= 1 << i
	}
	all := ^uint64(0) >> (Width - len(sources))
	for hop := 1; hop <= hops; hop++ {
		if !s.advance(all, uint8(hop), distances) {
			break
		}
		s.frontier, s.next = s.next, s.frontier
	}
	return nil
}

// advance finds, for every entity, the searches that reach it now and not before. It is
// false when there are none.
func (s *Searcher) advance(all uint64, hop uint8, distances [][]uint8) bool {
	var any uint64
	offsets, senders := s.graph.Offsets, s.graph.Senders
	for o := range s.next {
		missing := all &^ s.seen[o]
		if missing == 0 {
			s.next[o] = 0
			continue
		}
		var arriving uint64
		// By reciprocity the senders of o are also the entities that its edges lead to.
		for _, u := range senders[offsets[o]:offsets[o+1]] {
			arriving |= s.frontier[u]
		}
		arriving &= missing
		s.next[o] = arriving
		s.seen[o] |= arriving
		any |= arriving
		for ; arriving != 0; arriving &= arriving - 1 {
			distances[bits.TrailingZeros64(arriving)][o] = hop
		}
	}
	return any != 0
}
