package study

const (
	cacheLine = 64            // bytes
	perBlock  = 2 * cacheLine // entities whose packed distances fill a cache line
)

// blocks returns the number of cache lines that hold the packed distances of a number of entities.
func blocks(entities int) int { return (entities + perBlock - 1) / perBlock }

// packedStride returns the bytes from one source's packed distances to the next's: an odd number of
// cache lines, so that a column of lines spreads over all sets of the cache.
func packedStride(entities int) int { return (blocks(entities) | 1) * cacheLine }

// pack transposes the bits of distances, which are in rows by entity, into packed rows by source, and clears them.
func (s *Searcher) pack() {
	for i := range blocks(s.graph.Entities) {
		s.hop.PackBits(i*perBlock, s.packed[i*cacheLine:], s.stride)
	}
}

// Packed returns the distances from the i-th source, 4 bits an entity as formats/workspace/tables packs them: the
// even one of two entities in the low half of a byte, and hop.Packed for unreached. The slice is a view until
// the next search, and nil where distances are not gathered.
func (s *Searcher) Packed(i int) []byte {
	if !s.gather.Distances {
		return nil
	}
	return s.packed[i*s.stride:][:(s.graph.Entities+1)/2]
}
