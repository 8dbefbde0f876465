package kernel

import "encoding/binary"

// transposeBits transposes each block of 64 by 64 bits of 64 rows: bit c of row r becomes bit r of row c%64, in word
// c/64. It swaps the two quarters of a block that lie off its diagonal, then the quarters of each quarter, and so on.
func transposeBits(rows []uint64, words int) {
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

// PackBits writes the packed distances of the 128 entities from first on, 64 bytes for every source, stride bytes from
// one source to the next. Entities in h.Next were reached at h.Distance, those in h.Frontier one hop before; neither
// are recorded in h.Distances. It clears the entities' rows of the three tables.
func (h *Hop) PackBits(first int, out []byte, stride int) {
	for word := range h.Words {
		h.packWord(first, word, out[64*word*stride:], stride)
	}
}

// packWord is PackBits for the sources of one word. It writes the distances of 16 entities at a time as 64 rows of
// bits, four for each entity, transposes them, and gathers the words of every source. An entity that was not reached
// has all four bits.
func (h *Hop) packWord(first, word int, out []byte, stride int) {
	var squares [8 * 64]uint64
	for i := range squares {
		at, plane := (first+i/4)*h.Words+word, i%4
		squares[i] = ^(h.Reached[at] | h.Next[at])
		if plane < h.Planes {
			bits := &h.Distances[plane*len(h.Reached)+at]
			squares[i] |= *bits
			*bits = 0
		}
		if max(0, h.Distance-1)>>plane&1 == 1 {
			squares[i] |= h.Frontier[at]
		}
		if h.Distance>>plane&1 == 1 {
			squares[i] |= h.Next[at]
		}
		if plane == 3 {
			h.Frontier[at], h.Next[at] = 0, 0
		}
	}
	for at := 0; at < len(squares); at += 64 {
		transposeBits(squares[at:at+64], 1)
	}
	for source := range 64 {
		line := out[source*stride:][:64]
		for j := range 8 {
			binary.LittleEndian.PutUint64(line[8*j:], squares[source+64*j])
		}
	}
}
