package multisource

import "tagnet/formats/tables"

const (
	line     = 64       // bytes of a line of the cache
	perBlock = 2 * line // entities whose packed distances make a line
)

// blocks is how many lines have the packed distances to so many entities.
func blocks(entities int) int { return (entities + perBlock - 1) / perBlock }

// packedStride is the bytes from one source's packed distances to the next's: an odd number of
// lines, so that columns of lines fall on all sets of the cache.
func packedStride(entities int) int { return (blocks(entities) | 1) * line }

// pack turns the bits of distances, which lie by entity, into rows by source, and leaves them
// zero.
func (s *Searcher) pack() {
	for i := range blocks(s.graph.Entities) {
		s.kernel.PackBits(&s.hop, i*perBlock, s.packed[i*line:], s.stride)
	}
}

// Packed is the distances from the i-th source, as tables.Pack packs them. It is a view until
// the next search, and nil where distances are not gathered.
func (s *Searcher) Packed(i int) []byte {
	if !s.gather.Distances {
		return nil
	}
	return s.packed[i*s.stride:][:tables.PackedLen(s.graph.Entities)]
}
