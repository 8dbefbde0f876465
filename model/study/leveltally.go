package study

import "tagnet/model/engine/kernel"

// levelTally counts edges for all searches at once.
type levelTally struct {
	// between counts the edges from the frontier to the next level, leaving all that leave the frontier.
	between, leaving *kernel.Counters
	// byBit has, for each bit, the entities, of perTally, whose degree has that bit set.
	byBit [32][]int32
	// one is a step in a graph of a single entity, whose senders are the entities of a byBit.
	one   kernel.Hop
	found []int32
	sums  []uint64 // see Counters.Take
}

// perTally is the number of entities that are sorted by the bits of their degrees at a time.
const perTally = 4096

// newLevelTally returns a levelTally for rows of a number of words.
func newLevelTally(words int) *levelTally {
	return &levelTally{
		between: kernel.NewCounters(words), leaving: kernel.NewCounters(words),
		one: kernel.Hop{
			Words: words, Offsets: make([]int64, 2), Record: kernel.RecordNothing,
			Reached: make([]uint64, words), Next: make([]uint64, words),
		},
		found: make([]int32, 0, 2),
		sums:  make([]uint64, 64*words),
	}
}

// count counts the edges that a step to a distance visited. All edges that leave a level lead to the
// next, to the one before, or stay inside.
func (s *Searcher) count(distance, hops int) {
	t := s.levelTally
	t.between.Take(t.sums)
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

// sum returns the last count for the i-th source.
func (t *levelTally) sum(i int) int64 { return int64(t.sums[i%64*t.one.Words+i/64]) }

// sumDegrees sums, for every search, the degrees of the entities in its frontier: each bit k of an
// entity's degree counts its row 2^k times.
func (s *Searcher) sumDegrees() {
	t := s.levelTally
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
	t.leaving.Take(t.sums)
}

// Levels returns the levels of the i-th source up to the search's hops, or zero where levels are not gathered.
func (s *Searcher) Levels(i int) Levels {
	if !s.gather.Levels {
		return Levels{}
	}
	return s.levels[i]
}
