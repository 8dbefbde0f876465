package kernel

// bitFunctions implement BitSearch for rows of one vector register. plane is the bytes from one
// bit plane of the distances to the next, distance what recordedDistance returns, listed the
// number of entities in found. pull and push return how many there are afterwards.
type bitFunctions struct {
	words       int
	pull        func(count int, offsets *int64, senders *int32, frontier, reached, next, distances *uint64, plane, distance int, found *int32, listed int) int
	pullCounted func(count int, offsets *int64, senders *int32, frontier, reached, next, distances *uint64, plane, distance int, found *int32, listed int,
		planes, pending *uint64) int
	push        func(count int, active *int32, offsets *int64, senders *int32, frontier, reached, next *uint64, found *int32, listed int) int
	pushCounted func(count int, active *int32, offsets *int64, senders *int32, frontier, reached, next *uint64, found *int32, listed int, planes,
		pending *uint64) int
	record func(count int, found *int32, next, reached, distances *uint64, plane, distance int)
}

var (
	bitsAVX2   = bitFunctions{4, pullAVX2, pullCountedAVX2, pushAVX2, pushCountedAVX2, recordAVX2}
	bitsAVX512 = bitFunctions{8, pullAVX512, pullCountedAVX512, pushAVX512, pushCountedAVX512, recordAVX512}
)

// RowWidths returns the width of a word and the widths of vector registers.
func (s *assembly) RowWidths() []int {
	widths := s.portable.RowWidths()
	for _, b := range s.bitWidths {
		widths = append(widths, b.words)
	}
	return widths
}

// bitFunctionsFor returns the functions for a width in words, nil for the portable width.
func (s *assembly) bitFunctionsFor(words int) *bitFunctions {
	for i := range s.bitWidths {
		if s.bitWidths[i].words == words {
			return &s.bitWidths[i]
		}
	}
	return nil
}

// Pull checks the lengths of the tables, which the assembly does not.
func (s *assembly) Pull(h *Hop, found []int32) []int32 {
	b, entities := s.bitFunctionsFor(h.Words), len(h.Offsets)-1
	if b == nil {
		return s.portable.Pull(h, found)
	}
	if entities == 0 {
		return found
	}
	h.checkTables(entities, found)
	offsets, senders, all := &h.Offsets[0], first(h.Senders), first(found[:cap(found)])
	frontier, reached, next, distances := &h.Frontier[0], &h.Reached[0], &h.Next[0], first(h.Distances)
	if c := h.Counters; c != nil {
		count := b.pullCounted(entities, offsets, senders, frontier, reached, next, distances, 8*len(h.Reached), h.recordedDistance(), all, len(found),
			c.plane(), &c.pending[0])
		return found[:count]
	}
	return found[:b.pull(entities, offsets, senders, frontier, reached, next, distances, 8*len(h.Reached), h.recordedDistance(), all, len(found))]
}

// Push checks the lengths of the tables, which the assembly does not.
func (s *assembly) Push(h *Hop, active, found []int32) []int32 {
	b, entities := s.bitFunctionsFor(h.Words), len(h.Offsets)-1
	if b == nil {
		return s.portable.Push(h, active, found)
	}
	if len(active) == 0 {
		return found
	}
	h.checkTables(entities, found)
	offsets, senders, all := &h.Offsets[0], first(h.Senders), first(found[:cap(found)])
	frontier, reached, next, before := &h.Frontier[0], &h.Reached[0], &h.Next[0], len(found)
	if c := h.Counters; c != nil {
		found = found[:b.pushCounted(len(active), &active[0], offsets, senders, frontier, reached, next, all, before, c.plane(), &c.pending[0])]
	} else {
		found = found[:b.push(len(active), &active[0], offsets, senders, frontier, reached, next, all, before)]
	}
	if fresh := found[before:]; len(fresh) > 0 {
		b.record(len(fresh), &fresh[0], next, reached, first(h.Distances), 8*len(h.Reached), h.recordedDistance())
	}
	return found
}

// recordedDistance returns the distance whose bits are recorded, or a negative number to record none.
func (h *Hop) recordedDistance() int {
	switch h.Record {
	case RecordNothing:
		return -1
	case RecordReached:
		return 0 // has no bits
	}
	return h.Distance
}

// plane returns the address of the first plane that is added to.
func (s *Counters) plane() *uint64 { return &s.planes[s.shift*s.words] }

// checkTables panics where a table has fewer rows than there are entities, or a list no
// capacity for them and one more.
func (h *Hop) checkTables(entities int, found []int32) {
	n := entities * h.Words
	_, _, _, _ = h.Frontier[:n], h.Reached[:n], h.Next[:n], found[len(found):][:entities+1]
	if h.Distances != nil {
		_ = h.Distances[:4*len(h.Reached)]
	}
	if h.Counters != nil && h.Counters.words != h.Words {
		panic("counters of another width") // a mistake in the caller's code
	}
}
