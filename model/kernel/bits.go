package kernel

// Bits is the arithmetic of searches from many sources at once. Every source has a bit of
// its own, and every entity a row of so many words. Its results have the same bits in every
// variant.
type BitSearch interface {
	// Widths are the numbers of words a row that the variant takes, narrowest first: 1 for 64
	// sources, up to 8 for 512.
	RowWidths() []int

	// Pull is a step of all searches from the side of those entities that some search has not
	// reached: each looks for senders in the frontier. It sets all rows of h.Next, appends to
	// found the entities whose row is not zero, and enters those as h.Enter says. found has room
	// for all entities and one more behind what is in it.
	Pull(h *Hop, found []int32) []int32

	// Push is Pull from the side of the frontier, whose entities are active: each looks for
	// receivers that are not reached. It finds the same in another order. h.Next is zero before.
	Push(h *Hop, active, found []int32) []int32

	// TransposeBits changes places of rows and columns in each 64 times 64 bits of 64 rows: bit
	// c of row r is that of word c/64 in the row c%64, at r, afterwards.
	TransposeBits(rows []uint64, words int)

	// PackBits makes 64 bytes of packed distances of every source, at so many bytes from each
	// other, for the 128 entities from first on. What stands in h.Next was reached at h.Distance,
	// and what stands in h.Frontier one hop before, neither entered in h.Distances. It leaves
	// their rows of the three zero. Where all these bytes are whole lines of the cache it is
	// faster.
	PackBits(h *Hop, first int, out []byte, stride int)
}

// Hop is a step of 64 Words searches.
type Hop struct {
	// Words is the width of a row.
	Words int
	// Offsets and Senders are the edges by receiver. The other end of each holds an edge back.
	Offsets []int64
	Senders []int32
	// Frontier has what the step before reached, Reached all so far, Next what this one
	// reaches: [entities, Words] each. For PackBits there are rows for a multiple of 128.
	Frontier, Reached, Next []uint64
	// Distance, 0 to 14, is that of what is found.
	Distance int
	// Enter is where what is found is entered.
	Record Record
	// Distances has the bits of the distances, [4, rows of Reached, Words]: plane k has the
	// searches that reached an entity at a distance with bit k. It may be nil.
	Distances []uint64
	// Planes is how many bits a distance has at most, 0 to 4: the others are not read.
	Planes int
	// Squares is what PackBits works in, [8, 64, Words].
	Scratch []uint64
	// Counters count, for every search, the edges from its frontier to what it had not reached
	// before. Nil for none.
	Counters *Counters
}

// Enter says where a step enters what it finds. What the last steps find need not be: it stands
// in Frontier and Next.
type Record int

const (
	RecordAll     Record = iota // in Reached and Distances
	RecordReached               // not in Distances
	RecordNothing
)

// Counters are a number for each bit of a row, held in slices: row k has their bits of 2^k. Adding
// rows to it costs some operations on whole rows each, in place of one for every bit.
type Counters struct {
	words  int
	planes []uint64 // [64, words]
	shift  int      // the first plane that is added to
	// pending has what waits to be added with weight 4, [pendingRows + pendingSlack, words].
	pending []uint64
}

const (
	pendingRows  = 256
	pendingSlack = 16 // what a receiver may add after the last look, and zeros up to eight
	planes       = 64
)

// NewCounters returns zeros for rows of so many words. It takes (272 + 64) words rows.
func NewCounters(words int) *Counters {
	return &Counters{words: words, planes: make([]uint64, planes*words), pending: make([]uint64, (pendingRows+pendingSlack)*words)}
}

// Scale makes what is added from now on count 2^shift times, for a shift of 0 to 31.
func (s *Counters) Scale(shift int) { s.shift = shift }

// Take returns the numbers, [64, words], and the counters to zeros: the number of bit c is in
// the row c%64, at word c/64. The numbers hold until more is counted.
func (s *Counters) Take(k BitSearch, numbers []uint64) {
	copy(numbers, s.planes)
	clear(s.planes)
	s.shift = 0
	k.TransposeBits(numbers, s.words)
}

// Pull looks at every sender of who is missed by a search, and stops where none misses it any
// longer, unless edges are counted.
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
	h.mark(found[before:])
	return found
}

// pull adds the senders' bits that are missing, four rows at once, and returns their union.
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

// Push reaches the receivers of the active.
func (portable) Push(h *Hop, active, found []int32) []int32 {
	before := len(found)
	for _, u := range active {
		sent := h.Frontier[u]
		// By reciprocity the senders of u are also the entities that its edges lead to.
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
	h.mark(found[before:])
	return found
}

// mark enters what was found, for rows of one word.
func (h *Hop) mark(found []int32) {
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

// add adds a row with the weight of a plane, carrying on as with a pencil.
func (s *Counters) add(plane int, x uint64) {
	for x != 0 {
		s.planes[plane], x = s.planes[plane]^x, s.planes[plane]&x
		plane++
	}
}

// addFour adds four rows of weight 1 and carries once.
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

// Widths is 1: a word is what Go computes with.
func (portable) RowWidths() []int { return []int{1} }
