package kernel

import "encoding/binary"

// TransposeBits swaps the two quarters of a block that lie off its diagonal, then the quarters of each
// quarter, and so on.
func (portable) TransposeBits(rows []uint64, words int) {
	for word := range words {
		column := rows[word : 63*words+word+1]
		mask := uint64(0x00000000ffffffff)
		for distance := 32; distance > 0; distance >>= 1 {
			for k := 0; k < 64; k = (k + distance + 1) &^ distance {
				a, b := column[k*words], column[(k+distance)*words]
				t := (a>>distance ^ b) & mask
				column[k*words], column[(k+distance)*words] = a^t<<distance, b^t
			}
			mask ^= mask << (distance >> 1)
		}
	}
}

// PackBits writes the distances of 16 entities at a time as 64 rows of bits, four for each entity,
// transposes them, and gathers the words of every source. An entity that was not reached has all
// four bits.
func (k portable) PackBits(h *Hop, first int, out []byte, stride int) {
	squares := h.Scratch[:8*64]
	for i := range squares {
		o, plane := first+i/4, i%4
		squares[i] = ^(h.Reached[o] | h.Next[o])
		if plane < h.Planes {
			bits := &h.Distances[plane*len(h.Reached)+o]
			squares[i] |= *bits
			*bits = 0
		}
		if max(0, h.Distance-1)>>plane&1 == 1 {
			squares[i] |= h.Frontier[o]
		}
		if h.Distance>>plane&1 == 1 {
			squares[i] |= h.Next[o]
		}
		if plane == 3 {
			h.Frontier[o], h.Next[o] = 0, 0
		}
	}
	for at := 0; at < len(squares); at += 64 {
		k.TransposeBits(squares[at:at+64], 1)
	}
	for source := range 64 {
		line := out[source*stride:][:64]
		for j := range 8 {
			binary.LittleEndian.PutUint64(line[8*j:], squares[source+64*j])
		}
	}
}
