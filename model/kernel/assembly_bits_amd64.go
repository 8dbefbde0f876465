package kernel

// rowBits are the functions of Bits for rows of one vector.
type rowBits struct {
	words       int
	pull        func(count int, offsets *int64, senders *int32, frontier, reached, next *uint64, found *int32, listed int) int
	pullCounted func(count int, offsets *int64, senders *int32, frontier, reached, next *uint64, found *int32, listed int, planes, pending *uint64) int
	push        func(count int, active *int32, offsets *int64, senders *int32, frontier, reached, next *uint64, found *int32, listed int) int
	pushCounted func(count int, active *int32, offsets *int64, senders *int32, frontier, reached, next *uint64, found *int32, listed int, planes, pending *uint64) int
	mark        func(count int, found *int32, next, reached, absent *uint64, distance int)
	transpose   func(rows *uint64, out *byte, stride int, flip uint64)
}

var (
	bitsAVX2   = rowBits{4, pullAVX2, pullCountedAVX2, pushAVX2, pushCountedAVX2, markAVX2, transposeBitsAVX2}
	bitsAVX512 = rowBits{8, pullAVX512, pullCountedAVX512, pushAVX512, pushCountedAVX512, markAVX512, transposeBitsAVX512}
)

// Widths adds those of a vector to those of a word.
func (s *assembly) Widths() []int {
	widths := s.portable.Widths()
	for _, b := range s.bits {
		widths = append(widths, b.words)
	}
	return widths
}

// rows returns the functions for a width, nil for that of portable.
func (s *assembly) rows(words int) *rowBits {
	for i := range s.bits {
		if s.bits[i].words == words {
			return &s.bits[i]
		}
	}
	return nil
}

// Pull checks what the assembly takes for granted: as many rows as there are entities.
func (s *assembly) Pull(h *Hop, found []int32) []int32 {
	b, entities := s.rows(h.Words), len(h.Offsets)-1
	if b == nil {
		return s.portable.Pull(h, found)
	}
	if entities == 0 {
		return found
	}
	h.check(entities, found)
	at := first(found[:cap(found)])
	var count int
	if c := h.Counters; c != nil {
		count = b.pullCounted(entities, &h.Offsets[0], first(h.Senders), &h.Frontier[0], &h.Reached[0], &h.Next[0], at, len(found),
			&c.planes[c.shift*c.words], &c.pending[0])
	} else {
		count = b.pull(entities, &h.Offsets[0], first(h.Senders), &h.Frontier[0], &h.Reached[0], &h.Next[0], at, len(found))
	}
	return found[:count]
}

// Push is like Pull.
func (s *assembly) Push(h *Hop, active, found []int32) []int32 {
	b, entities := s.rows(h.Words), len(h.Offsets)-1
	if b == nil {
		return s.portable.Push(h, active, found)
	}
	if len(active) == 0 {
		return found
	}
	h.check(entities, found)
	at := first(found[:cap(found)])
	var count int
	if c := h.Counters; c != nil {
		count = b.pushCounted(len(active), &active[0], &h.Offsets[0], first(h.Senders), &h.Frontier[0], &h.Reached[0], &h.Next[0], at, len(found),
			&c.planes[c.shift*c.words], &c.pending[0])
	} else {
		count = b.push(len(active), &active[0], &h.Offsets[0], first(h.Senders), &h.Frontier[0], &h.Reached[0], &h.Next[0], at, len(found))
	}
	return found[:count]
}

// Mark leaves one word to portable.
func (s *assembly) Mark(h *Hop, found []int32, distance int) {
	b := s.rows(h.Words)
	if b == nil {
		s.portable.Mark(h, found, distance)
		return
	}
	if len(found) > 0 {
		h.check(len(h.Offsets)-1, nil)
		b.mark(len(found), &found[0], &h.Next[0], &h.Reached[0], first(h.Absent), distance)
	}
}

// TransposeBits leaves other widths to portable.
func (s *assembly) TransposeBits(rows []uint64, words int, out []byte, stride int, flip bool) {
	b := s.rows(words)
	if b == nil {
		s.portable.TransposeBits(rows, words, out, stride, flip)
		return
	}
	_, _ = rows[64*words-1], out[(64*words-1)*stride+7]
	turn := uint64(0)
	if flip {
		turn = ^turn
	}
	b.transpose(&rows[0], &out[0], stride, turn)
}

// check ends in a panic where a table has fewer rows than there are entities, or a list no
// room for them and one more.
func (h *Hop) check(entities int, found []int32) {
	n := entities * h.Words
	if found != nil {
		_ = found[:entities+1]
	}
	_, _, _ = h.Frontier[:n], h.Reached[:n], h.Next[:n]
	if h.Absent != nil {
		_ = h.Absent[:4*n]
	}
	if h.Counters != nil && h.Counters.words != h.Words {
		panic("counters of another width") // a mistake in the caller's code
	}
}
