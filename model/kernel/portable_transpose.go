package kernel

import "encoding/binary"

// TransposeBits swaps the halves that lie across the diagonal, then the quarters, and so on,
// of 64 times 64 bits at once.
func (portable) TransposeBits(rows []uint64, words int, out []byte, stride int, flip bool) {
	turn := uint64(0)
	if flip {
		turn = ^turn
	}
	for word := range words {
		var a [64]uint64
		for r := range a {
			a[r] = rows[r*words+word] ^ turn
		}
		transpose64(&a)
		for c, column := range a {
			binary.LittleEndian.PutUint64(out[(64*word+c)*stride:], column)
		}
	}
}

func transpose64(a *[64]uint64) {
	mask := uint64(0x00000000ffffffff)
	for distance := 32; distance > 0; distance >>= 1 {
		for k := 0; k < 64; k = (k + distance + 1) &^ distance {
			t := (a[k]>>distance ^ a[k+distance]) & mask
			a[k] ^= t << distance
			a[k+distance] ^= t
		}
		mask ^= mask << (distance >> 1)
	}
}
