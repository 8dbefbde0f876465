package kernel

// rowBits are the functions of Bits for rows of one vector.
type rowBits struct {
	words       int
	pull        func(count int, offsets *int64, senders *int32, frontier, reached, next, distances *uint64, plane, distance int, found *int32, listed int) int
	pullCounted func(count int, offsets *int64, senders *int32, frontier, reached, next, distances *uint64, plane, distance int, found *int32, listed int, planes, pending *uint64) int
	push        func(count int, active *int32, offsets *int64, senders *int32, frontier, reached, next *uint64, found *int32, listed int) int
	pushCounted func(count int, active *int32, offsets *int64, senders *int32, frontier, reached, next *uint64, found *int32, listed int, planes, pending *uint64) int
	mark        func(count int, found *int32, next, reached, distances *uint64, plane, distance int)
	transpose   func(rows *uint64)
	squares     func(reached, frontier, next, distances *uint64, plane, planes, before, last int, squares *uint64)
	lines       func(squares *uint64, out *byte, stride int)
}

var (
	bitsAVX2   = rowBits{4, pullAVX2, pullCountedAVX2, pushAVX2, pushCountedAVX2, markAVX2, transposeBitsAVX2, squaresAVX2, linesAVX2}
	bitsAVX512 = rowBits{8, pullAVX512, pullCountedAVX512, pushAVX512, pushCountedAVX512, markAVX512, transposeBitsAVX512, squaresAVX512, linesAVX512}
)

// Widths adds those of a vector to those of a word.
func (s *assembly) RowWidths() []int {
	widths := s.portable.RowWidths()
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
	offsets, senders, all := &h.Offsets[0], first(h.Senders), first(found[:cap(found)])
	frontier, reached, next, distances := &h.Frontier[0], &h.Reached[0], &h.Next[0], first(h.Distances)
	if c := h.Counters; c != nil {
		count := b.pullCounted(entities, offsets, senders, frontier, reached, next, distances, 8*len(h.Reached), h.entered(), all, len(found), c.plane(), &c.pending[0])
		return found[:count]
	}
	return found[:b.pull(entities, offsets, senders, frontier, reached, next, distances, 8*len(h.Reached), h.entered(), all, len(found))]
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
	offsets, senders, all := &h.Offsets[0], first(h.Senders), first(found[:cap(found)])
	frontier, reached, next, before := &h.Frontier[0], &h.Reached[0], &h.Next[0], len(found)
	if c := h.Counters; c != nil {
		found = found[:b.pushCounted(len(active), &active[0], offsets, senders, frontier, reached, next, all, before, c.plane(), &c.pending[0])]
	} else {
		found = found[:b.push(len(active), &active[0], offsets, senders, frontier, reached, next, all, before)]
	}
	if fresh := found[before:]; len(fresh) > 0 {
		b.mark(len(fresh), &fresh[0], next, reached, first(h.Distances), 8*len(h.Reached), h.entered())
	}
	return found
}

// TransposeBits leaves other widths to portable.
func (s *assembly) TransposeBits(rows []uint64, words int) {
	b := s.rows(words)
	if b == nil {
		s.portable.TransposeBits(rows, words)
		return
	}
	_ = rows[64*words-1]
	b.transpose(&rows[0])
}

// PackBits is like TransposeBits.
func (s *assembly) PackBits(h *Hop, entity int, out []byte, stride int) {
	b, at := s.rows(h.Words), entity*h.Words
	if b == nil {
		s.portable.PackBits(h, entity, out, stride)
		return
	}
	rows := 128 * h.Words
	reached, frontier, next := h.Reached[at:at+rows], h.Frontier[at:at+rows], h.Next[at:at+rows]
	_, _, _ = h.Distances[:4*len(h.Reached)], h.Scratch[:4*rows], out[(64*h.Words-1)*stride+63]
	b.squares(&reached[0], &frontier[0], &next[0], &h.Distances[at], 8*len(h.Reached), h.Planes, max(0, h.Distance-1), h.Distance, &h.Scratch[0])
	b.lines(&h.Scratch[0], &out[0], stride)
}

// entered is the distance whose bits are entered, negative where nothing is.
func (h *Hop) entered() int {
	switch h.Record {
	case RecordNothing:
		return -1
	case RecordReached:
		return 0 // which has no bits
	}
	return h.Distance
}

// plane is where the counters add now.
func (s *Counters) plane() *uint64 { return &s.planes[s.shift*s.words] }

// check ends in a panic where a table has fewer rows than there are entities, or a list no
// room for them and one more.
func (h *Hop) check(entities int, found []int32) {
	n := entities * h.Words
	_, _, _, _ = h.Frontier[:n], h.Reached[:n], h.Next[:n], found[len(found):][:entities+1]
	if h.Distances != nil {
		_ = h.Distances[:4*len(h.Reached)]
	}
	if h.Counters != nil && h.Counters.words != h.Words {
		panic("counters of another width") // a mistake in the caller's code
	}
}
