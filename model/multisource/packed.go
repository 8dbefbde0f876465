package multisource

import "tagnet/formats/tables"

// perSquare is how many entities' distances make a word of 64 bits.
const perSquare = 16

// squares is how many words have the distances to so many entities.
func squares(entities int) int { return (entities + perSquare - 1) / perSquare }

// packedStride is the bytes from one source's packed distances to the next's: whole lines of
// the cache, and an odd number of them, so that columns of words fall on all of its sets.
func packedStride(entities int) int {
	const line = 64
	return ((8*squares(entities)+line-1)/line | 1) * line
}

// pack turns the bits of distances, which lie by entity, into rows by source: 4 bits of each
// of 16 entities at once.
func (s *Searcher) pack() {
	square := 4 * perSquare * s.hop.Words
	for i := range squares(s.graph.Entities) {
		s.kernel.TransposeBits(s.hop.Absent[i*square:][:square], s.hop.Words, s.packed[8*i:], s.stride, true)
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
