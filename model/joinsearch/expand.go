package joinsearch

import "context"

// expand emits the neighbors of a block's newly reached entities of a range, keyed by the
// neighbors' range: one frontier for each chunk of the range's edges and range of neighbors.
func (l Layout) expand(ctx context.Context, block, entityRange int, fresh *frontier, emit func(int, []byte)) error {
	if fresh.empty() {
		return nil
	}
	buffer := make([]uint64, l.maxRange()*l.Words)
	return eachChunk(ctx, l, entityRange, func(c *edgeChunk) error {
		e := newExpansion(c, fresh)
		for to := range l.Ranges {
			if len(e.active) == 0 {
				return nil
			}
			first, last := l.Range(to)
			next := &frontier{from: first, width: l.Words, bits: buffer[:int(last-first)*l.Words]}
			if !e.markBelow(last, next) {
				continue
			}
			if to == entityRange { // fresh entities are reached already
				for i, sources := range fresh.bits {
					next.bits[i] &^= sources
				}
			}
			key := l.Key(block, to)
			if err := next.encode(func(element []byte) { emit(key, element) }); err != nil {
				return err
			}
			clear(next.bits)
		}
		return nil
	})
}

// expansion follows the edges of a chunk from its newly reached entities, in increasing order of
// the neighbors.
type expansion struct {
	neighbors []int32
	active    []activeEntity
}

// activeEntity is a newly reached entity, the sources that reach it, and those of its neighbors
// that are not marked yet: next..end-1 of the chunk's.
type activeEntity struct {
	sources   []uint64
	next, end int32
}

func newExpansion(c *edgeChunk, fresh *frontier) *expansion {
	e := &expansion{neighbors: c.neighbors}
	for i := range len(c.offsets) - 1 {
		sources := fresh.words(c.first + int32(i))
		if c.offsets[i] < c.offsets[i+1] && !allZero(sources) {
			e.active = append(e.active, activeEntity{sources, c.offsets[i], c.offsets[i+1]})
		}
	}
	return e
}

// markBelow marks the neighbors below last in next, and reports whether there are any.
func (e *expansion) markBelow(last int32, next *frontier) (found bool) {
	remaining := e.active[:0]
	for _, a := range e.active {
		for ; a.next < a.end && e.neighbors[a.next] < last; a.next++ {
			found = true
			words := next.words(e.neighbors[a.next])
			for i, sources := range a.sources {
				words[i] |= sources
			}
		}
		if a.next < a.end {
			remaining = append(remaining, a)
		}
	}
	e.active = remaining
	return found
}
