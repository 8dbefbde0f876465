package study

import (
	"fmt"
	"math/bits"
	"slices"

	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// Gather selects the results of a search.
type Gather struct {
	// Distances gathers the distance to every entity, packed at 4 bits each.
	Distances bool
	// Levels gathers the numbers of edges between and inside the levels of distance.
	Levels bool
}

// Searcher searches one graph from up to 64 · words sources at once. It is not for concurrent use: each
// worker has its own.
//
// A step visits the neighbors of the frontier, or, where that is less work, the neighbors of the
// entities that some search has not reached (Beamer, Asanović and Patterson, SC 2012). The searches
// share one frontier, so that after the first steps nearly every edge leaves it.
type Searcher struct {
	graph  *graph.Graph
	kernel kernel.BitSearch
	gather Gather
	// hop has the rows of bits. Before a step, the rows of active entities are not zero in Frontier,
	// and in Next at most the rows of entities found two steps ago. Between searches all rows of
	// Frontier, Next and Distances are zero.
	hop           kernel.Hop
	active, found []int32
	packed        []byte // [64 words, stride]
	stride        int
	levelTally    *levelTally
	levels        []Levels
}

// NewSearcher returns a searcher over g with rows of words words, one of k.RowWidths().
func NewSearcher(g *graph.Graph, k kernel.BitSearch, words int, gather Gather) *Searcher {
	entities := perBlock * blocks(g.Entities)
	rows := func(count int) []uint64 { return make([]uint64, count*words) }
	s := &Searcher{
		graph: g, kernel: k, gather: gather,
		hop: kernel.Hop{
			Words: words, Offsets: g.Offsets, Senders: g.Senders,
			Frontier: rows(entities), Reached: rows(entities), Next: rows(entities),
		},
		active: make([]int32, 0, g.Entities+1), found: make([]int32, 0, g.Entities+1),
	}
	if gather.Distances {
		s.hop.Distances = rows(4 * entities)
		s.stride = packedStride(g.Entities)
		s.packed = make([]byte, 64*words*s.stride)
	}
	if gather.Levels {
		s.levelTally = newLevelTally(words)
		s.hop.Counters = s.levelTally.between
	}
	return s
}

// Width returns the most sources that one search takes.
func (s *Searcher) Width() int { return 64 * s.hop.Words }

// Search finds the fewest edges from each source to every entity, up to hops (0 to
// configuration.MaxLayers). A source may be repeated. Packed and Levels return the results by index of
// the source, until the next search.
func (s *Searcher) Search(sources []int32, hops int) error {
	if len(sources) > s.Width() {
		return fmt.Errorf("%d sources: want at most %d", len(sources), s.Width())
	}
	if hops < 0 || hops > configuration.MaxLayers {
		return fmt.Errorf("hops is %d: want 0 to %d", hops, configuration.MaxLayers)
	}
	for _, source := range sources {
		if source < 0 || int(source) >= s.graph.Entities {
			return fmt.Errorf("source %d is out of range 0..%d", source, s.graph.Entities-1)
		}
	}
	s.levels = s.levels[:0]
	if len(sources) == 0 {
		return nil
	}
	s.begin(sources)
	// As many planes as a distance has bits.
	s.hop.Planes = bits.Len(uint(hops))
	steps := hops
	if s.gather.Levels {
		steps++ // finds the edges that leave the last level: its other edges are inside
	}
	s.hop.Distance = 0
	for distance := 1; distance <= steps; distance++ {
		if distance > 1 {
			s.advance()
		}
		if len(s.active) == 0 {
			break
		}
		s.hop.Distance, s.hop.Record = distance, s.enter(distance, hops)
		s.step()
		if s.gather.Levels {
			s.count(distance, hops)
		}
	}
	s.end(hops)
	return nil
}

// end packs the distances and clears the tables.
func (s *Searcher) end(hops int) {
	entered := s.gather.Levels || s.hop.Distance < hops // whatever is in Frontier and Next
	if entered || !s.gather.Distances {
		clearRows(s.hop.Frontier, s.active, s.hop.Words)
		clearRows(s.hop.Next, s.found, s.hop.Words)
	}
	s.found = s.found[:0]
	if s.gather.Distances {
		s.pack()
	}
}

// enter returns the tables that a step writes. The last two steps do not write distances where packing
// derives them from the other tables.
func (s *Searcher) enter(distance, hops int) kernel.Record {
	switch {
	case s.gather.Levels && distance > hops, !s.gather.Levels && distance == hops:
		return kernel.RecordNothing
	case !s.gather.Levels && distance == hops-1:
		return kernel.RecordReached
	}
	return kernel.RecordAll
}

// begin sets the distance of every source in its own search to 0. Bits without a source count as
// reached everywhere, so that no step searches for them.
func (s *Searcher) begin(sources []int32) {
	words := s.hop.Words
	fill(s.hop.Reached, words, len(sources))
	s.active = s.active[:0]
	for i, source := range sources {
		word, bit := int(source)*words+i/64, uint64(1)<<(i%64)
		if slices.Max(s.hop.Frontier[int(source)*words:][:words]) == 0 {
			s.active = append(s.active, source)
		}
		s.hop.Frontier[word] |= bit
		s.hop.Reached[word] |= bit
	}
	if s.gather.Levels {
		for range sources {
			s.levels = append(s.levels, Levels{Edges: s.graph.Edges()})
		}
	}
}

// pushGain is the number of edges that a step from the unreached entities visits in the time that a
// step from the frontier takes for one.
const pushGain = 3

// step finds the entities of the next level.
func (s *Searcher) step() {
	leaving := int64(0)
	for _, u := range s.active {
		leaving += s.hop.Offsets[u+1] - s.hop.Offsets[u]
	}
	if pushGain*leaving < int64(len(s.hop.Senders)) {
		clearRows(s.hop.Next, s.found, s.hop.Words)
		s.found = s.kernel.Push(&s.hop, s.active, s.found[:0])
	} else {
		s.found = s.kernel.Pull(&s.hop, s.found[:0])
	}
}

// advance makes the entities found the frontier.
func (s *Searcher) advance() {
	s.hop.Frontier, s.hop.Next = s.hop.Next, s.hop.Frontier
	s.active, s.found = s.found, s.active
}

// clearRows zeroes the rows of listed entities.
func clearRows(table []uint64, list []int32, words int) {
	if 4*len(list)*words > len(table) {
		clear(table)
		return
	}
	for _, o := range list {
		clear(table[int(o)*words:][:words])
	}
}

// fill sets bit count and all after it in every row, and clears the others.
func fill(table []uint64, words, count int) {
	if count == 64*words {
		clear(table)
		return
	}
	row := table[:words]
	for w := range row {
		row[w] = ^uint64(0) << min(max(0, count-64*w), 64)
	}
	for done := words; done < len(table); done *= 2 {
		copy(table[done:], table[:done])
	}
}
