package multisource

import (
	"tagnet/model/kernel"
	"tagnet/model/messages"
)

// tally counts edges for all searches at once.
type tally struct {
	// between counts those from the frontier to the next level, leaving all that leave it.
	between, leaving *kernel.Counters
	// byBit has, of some entities, those whose degree has a bit.
	byBit [32][]int32
	// one is a step of a graph of a single entity, whose senders are those of byBit.
	one   kernel.Hop
	found []int32
	sums  []uint64 // what the counters give, by Counters.Take
}

// perTally is how many entities are sorted by the bits of their degrees at once.
const perTally = 4096

func newTally(words int) *tally {
	return &tally{
		between: kernel.NewCounters(words), leaving: kernel.NewCounters(words),
		one: kernel.Hop{
			Words: words, Offsets: make([]int64, 2), Enter: kernel.Nowhere,
			Reached: make([]uint64, words), Next: make([]uint64, words),
		},
		found: make([]int32, 0, 2),
		sums:  make([]uint64, 64*words),
	}
}

// count enters the edges that a step to a distance went along: all that leave the level before
// lead to this one, back to the one before, or stay inside.
func (s *Searcher) count(distance, hops int) {
	t := s.tally
	t.between.Take(s.kernel, t.sums)
	for i := range s.levels {
		if distance <= hops {
			s.levels[i].Between[distance] = t.sum(i)
		}
		s.levels[i].Within[distance-1] = -t.sum(i) - s.levels[i].Between[distance-1]
	}
	s.sumDegrees()
	for i := range s.levels {
		s.levels[i].Within[distance-1] += t.sum(i)
	}
}

// sum is what was counted last for the i-th source.
func (t *tally) sum(i int) int64 { return int64(t.sums[i%64*t.one.Words+i/64]) }

// sumDegrees adds up, for every search, the degrees of the entities in its frontier: a row
// counts 2^k for each bit k of its entity's degree.
func (s *Searcher) sumDegrees() {
	t := s.tally
	t.one.Frontier, t.one.Counters = s.hop.Frontier, t.leaving
	for from := 0; from < len(s.active); from += perTally {
		for _, u := range s.active[from:min(from+perTally, len(s.active))] {
			degree := uint64(s.graph.Degree(u))
			for k := 0; degree > 0; k, degree = k+1, degree>>1 {
				if degree&1 == 1 {
					t.byBit[k] = append(t.byBit[k], u)
				}
			}
		}
		for k, list := range t.byBit {
			if len(list) == 0 {
				continue
			}
			t.one.Offsets[1], t.one.Senders = int64(len(list)), list
			t.leaving.Scale(k)
			s.kernel.Pull(&t.one, t.found)
			t.byBit[k] = list[:0]
		}
	}
	t.leaving.Take(s.kernel, t.sums)
}

// Levels is what the counts of the i-th source need, up to the search's hops; zero where
// levels are not gathered.
func (s *Searcher) Levels(i int) messages.Levels {
	if !s.gather.Levels {
		return messages.Levels{}
	}
	return s.levels[i]
}
