package multisource

import (
	"fmt"
	"math/bits"

	"tagnet/formats/tables"
	"tagnet/model/graph"
	"tagnet/model/kernel"
	"tagnet/model/messages"
)

// Gather says what is wanted of a search.
type Gather struct {
	// Distances are those to every entity, packed at 4 bits each.
	Distances bool
	// Levels are the numbers of edges between and inside the levels of distance.
	Levels bool
}

// Searcher searches one graph from 64 words sources at once. Its working memory is that of
// Memory. It is not for concurrent use: each thread has its own.
//
// A step goes from the frontier to all of its neighbours, or, where that is less work, from
// the entities that some search has not reached to theirs (Beamer, Asanović and Patterson,
// SC 2012). The frontier is that of all searches together, so that after the first steps
// nearly every edge leads out of it.
type Searcher struct {
	graph  *graph.Graph
	kernel kernel.Kernel
	gather Gather
	// hop has the rows of bits. Before a step those of the active are not zero in Frontier, and
	// at most those found two steps ago in Next; between searches none are, nor in Distances.
	hop           kernel.Hop
	active, found []int32
	packed        []byte // [64 words, stride]
	stride        int
	tally         *tally
	levels        []messages.Levels
}

// NewSearcher returns a searcher over g with rows of so many words, one of k.Widths().
func NewSearcher(g *graph.Graph, k kernel.Kernel, words int, gather Gather) *Searcher {
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
		s.hop.Distances, s.hop.Squares = rows(4*entities), rows(4*perBlock)
		s.stride = packedStride(g.Entities)
		s.packed = make([]byte, 64*words*s.stride)
	}
	if gather.Levels {
		s.tally = newTally(words)
		s.hop.Counters = s.tally.between
	}
	return s
}

// Width is the most sources that one search takes.
func (s *Searcher) Width() int { return 64 * s.hop.Words }

// Search finds the fewest edges from each source to every entity, where these are not more
// than hops, 0 to tables.MaxHops. The same source may stand twice. What it gathers can be
// asked for by the place of a source until the next search.
func (s *Searcher) Search(sources []int32, hops int) error {
	if len(sources) > s.Width() {
		return fmt.Errorf("%d sources: want at most %d", len(sources), s.Width())
	}
	if hops < 0 || hops > tables.MaxHops {
		return fmt.Errorf("hops is %d: want 0 to %d", hops, tables.MaxHops)
	}
	for _, source := range sources {
		if source < 0 || int(source) >= s.graph.Entities {
			return fmt.Errorf("source %d is outside 0..%d", source, s.graph.Entities-1)
		}
	}
	s.levels = s.levels[:0]
	if len(sources) == 0 {
		return nil
	}
	s.begin(sources)
	s.hop.Planes = bits.Len(uint(hops))
	steps := hops
	if s.gather.Levels {
		steps++ // who adjoins the last level: its other edges are inside
	}
	s.hop.Distance = 0
	for distance := 1; distance <= steps; distance++ {
		if distance > 1 {
			s.advance()
		}
		if len(s.active) == 0 {
			break
		}
		s.hop.Distance, s.hop.Enter = distance, s.enter(distance, hops)
		s.step()
		if s.gather.Levels {
			s.count(distance, hops)
		}
	}
	s.end(hops)
	return nil
}

// end packs the distances and leaves the tables zero.
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

// enter says where a step enters what it finds: the last two not in the distances, if these are
// packed from where they leave it.
func (s *Searcher) enter(distance, hops int) kernel.Enter {
	switch {
	case s.gather.Levels && distance > hops, !s.gather.Levels && distance == hops:
		return kernel.Nowhere
	case !s.gather.Levels && distance == hops-1:
		return kernel.ReachedOnly
	}
	return kernel.Everywhere
}

// begin puts every source at distance 0 of its own search. Bits without a source count as
// reached everywhere, so that nobody looks for them.
func (s *Searcher) begin(sources []int32) {
	words := s.hop.Words
	fill(s.hop.Reached, words, len(sources))
	s.active = s.active[:0]
	for i, source := range sources {
		at, bit := int(source)*words+i/64, uint64(1)<<(i%64)
		if isZero(s.hop.Frontier[int(source)*words:][:words]) {
			s.active = append(s.active, source)
		}
		s.hop.Frontier[at] |= bit
		s.hop.Reached[at] |= bit
	}
	if s.gather.Levels {
		for range sources {
			s.levels = append(s.levels, messages.Levels{Edges: s.graph.Edges()})
		}
	}
}

// pushGain is how many edges of the graph a step from the side of the unreached looks at in
// the time that one of the frontier takes.
const pushGain = 3

// step finds who is reached next.
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

// advance makes those found the frontier.
func (s *Searcher) advance() {
	s.hop.Frontier, s.hop.Next = s.hop.Next, s.hop.Frontier
	s.active, s.found = s.found, s.active
}

// clearRows makes the rows of a list zero again.
func clearRows(table []uint64, list []int32, words int) {
	if 4*len(list)*words > len(table) {
		clear(table)
		return
	}
	for _, o := range list {
		clear(table[int(o)*words:][:words])
	}
}

// fill sets the bits of every row from the count-th on.
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

func isZero(row []uint64) bool {
	for _, x := range row {
		if x != 0 {
			return false
		}
	}
	return true
}
