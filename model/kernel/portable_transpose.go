package kernel

import "encoding/binary"

// TransposeBits swaps the halves that lie across the diagonal, then the quarters, and so on,
// of 64 times 64 bits at once.
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

// PackBits transposes squares, and gathers the lines of every source.
func (k portable) PackBits(squares []uint64, words int, out []byte, stride int) {
	for at := 0; at < len(squares); at += 64 * words {
		k.TransposeBits(squares[at:at+64*words], words)
	}
	for source := range 64 * words {
		line, at := out[source*stride:][:64], source%64*words+source/64
		for j := range 8 {
			binary.LittleEndian.PutUint64(line[8*j:], ^squares[at+j*64*words])
		}
	}
	clear(squares)
}
