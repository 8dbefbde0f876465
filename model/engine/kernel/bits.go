package kernel

// BitSearch computes the steps of breadth-first searches from many sources at once. Every source has one bit, every
// entity a row of words, 64 sources each. All variants give the same bits.
type BitSearch interface {
	// RowWidths returns the numbers of words a row that the variant supports, narrowest first:
	// 1 for 64 sources, up to 8 for 512.
	RowWidths() []int

	// Pull makes a step of all searches from the side of the entities that some search has not
	// reached: each looks for senders in the frontier. It sets all rows of h.Next, appends to
	// found the entities whose row is not zero, and records those as h.Record says. found has
	// capacity for all entities and one more.
	Pull(h *Hop, found []int32) []int32

	// Push makes the same step from the side of the frontier, whose entities are active: each looks for receivers that
	// are not reached. It finds the same entities in another order. h.Next must be zero.
	Push(h *Hop, active, found []int32) []int32
}

// Hop is one step of 64 Words searches.
type Hop struct {
	// Words is the width of a row.
	Words int
	// Offsets and Senders are the edges by receiver. Every edge has its inverse.
	Offsets []int64
	Senders []int32
	// Frontier has the bits that the previous step reached, Reached all so far, Next the bits that
	// this one reaches: [entities, Words] each. PackBits needs rows for a multiple of 128 entities.
	Frontier, Reached, Next []uint64
	// Distance is the distance of the entities that the step finds, 0 to 14.
	Distance int
	// Record selects where the entities found are recorded.
	Record Record
	// Distances has the bits of the distances, [4, rows of Reached, Words]: plane k has the
	// searches that reached an entity at a distance with bit k. It may be nil.
	Distances []uint64
	// Planes is the number of bits of the greatest distance, 0 to 4: other planes are not read.
	Planes int
	// Counters count, for every search, the edges from its frontier to what it had not reached
	// before. Nil counts nothing.
	Counters *Counters
}

// Record selects where a step records what it finds. The last steps need not record: their
// results stand in Frontier and Next.
type Record int

const (
	RecordAll     Record = iota // in Reached and Distances
	RecordReached               // in Reached only
	RecordNothing
)

// Counters has a counter for each bit of a row, stored in bit planes: row k has bit k of every
// counter. Adding a row takes a few operations on whole rows instead of one for every bit.
type Counters struct {
	words  int
	planes []uint64 // [64, words]
	shift  int      // the first plane that is added to
	// pending has rows of weight 4 that are not added yet, [pendingRows + pendingSlack, words].
	pending []uint64
}

const (
	pendingRows  = 256
	pendingSlack = 16 // what a receiver may append after the last check, and zeros up to eight
	planes       = 64
)

// NewCounters returns counters at zero for rows of a number of words. They take (272 + 64) words
// of 8 bytes per word of a row.
func NewCounters(words int) *Counters {
	return &Counters{words: words, planes: make([]uint64, planes*words), pending: make([]uint64, (pendingRows+pendingSlack)*words)}
}

// Scale gives what is counted from now on the weight 2^shift, for a shift of 0 to 31.
func (s *Counters) Scale(shift int) { s.shift = shift }

// Take copies the counters to numbers, [64, words], and resets them: the counter of bit c is
// in row c%64, word c/64.
func (s *Counters) Take(numbers []uint64) {
	copy(numbers, s.planes)
	clear(s.planes)
	s.shift = 0
	transposeBits(numbers, s.words)
}

// Pull visits the senders of every entity that some search has not reached, until all searches
// have reached it; where edges are counted it visits all senders.
func (portable) Pull(h *Hop, found []int32) []int32 {
	before := len(found)
	for o := range len(h.Offsets) - 1 {
		h.Next[o] = 0
		missing := ^h.Reached[o]
		if missing == 0 {
			continue
		}
		senders := h.Senders[h.Offsets[o]:h.Offsets[o+1]]
		arriving := uint64(0)
		if h.Counters != nil {
			arriving = h.Counters.pull(h.Frontier, missing, senders)
		} else {
			for _, u := range senders {
				arriving |= h.Frontier[u]
				if missing&^arriving == 0 {
					break
				}
			}
			arriving &= missing
		}
		if arriving != 0 {
			h.Next[o] = arriving
			found = append(found, int32(o))
		}
	}
	h.record(found[before:])
	return found
}

// pull counts the senders' bits that are missing, four rows at once, and returns their union.
func (s *Counters) pull(frontier []uint64, missing uint64, senders []int32) (arriving uint64) {
	for len(senders) >= 4 {
		a, b := frontier[senders[0]]&missing, frontier[senders[1]]&missing
		c, d := frontier[senders[2]]&missing, frontier[senders[3]]&missing
		s.addFour(a, b, c, d)
		arriving |= a | b | c | d
		senders = senders[4:]
	}
	for _, u := range senders {
		x := frontier[u] & missing
		s.add(s.shift, x)
		arriving |= x
	}
	return arriving
}

// Push visits the receivers of the active entities.
func (portable) Push(h *Hop, active, found []int32) []int32 {
	before := len(found)
	for _, u := range active {
		sent := h.Frontier[u]
		// Every edge has its inverse, so the senders of u are also its receivers.
		for _, o := range h.Senders[h.Offsets[u]:h.Offsets[u+1]] {
			x := sent &^ h.Reached[o]
			if x == 0 {
				continue
			}
			if h.Counters != nil {
				h.Counters.add(h.Counters.shift, x)
			}
			if h.Next[o] == 0 {
				found = append(found, o)
			}
			h.Next[o] |= x
		}
	}
	h.record(found[before:])
	return found
}

// record records what was found, for rows of one word.
func (h *Hop) record(found []int32) {
	if h.Record == RecordNothing {
		return
	}
	for _, o := range found {
		x := h.Next[o]
		h.Reached[o] |= x
		if h.Record == RecordReached || h.Distances == nil {
			continue
		}
		for k := 0; h.Distance>>k != 0; k++ {
			if h.Distance>>k&1 == 1 {
				h.Distances[k*len(h.Reached)+int(o)] |= x
			}
		}
	}
}

// add adds a row with the weight of a plane, and propagates the carries.
func (s *Counters) add(plane int, x uint64) {
	for x != 0 {
		s.planes[plane], x = s.planes[plane]^x, s.planes[plane]&x
		plane++
	}
}

// addFour adds four rows of weight 1 and propagates one carry.
func (s *Counters) addFour(a, b, c, d uint64) {
	ones, twos := s.planes[s.shift], s.planes[s.shift+1]
	half := ones ^ a
	carry := ones&a | half&b
	ones = half ^ b
	half = ones ^ c
	other := ones&c | half&d
	s.planes[s.shift] = half ^ d
	half = twos ^ carry
	s.planes[s.shift+1] = half ^ other
	s.add(s.shift+2, twos&carry|half&other)
}

// RowWidths returns 1: Go computes with single words.
func (portable) RowWidths() []int { return []int{1} }
