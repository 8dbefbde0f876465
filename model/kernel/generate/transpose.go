package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transposeBits writes portable.TransposeBits: each lane of 64 bits of the rows is a square of
// its own. Of the six steps three are made on eight rows that lie eight apart, and three on
// eight that lie together.
func (m *machine) transposeBits() {
	name := "transposeBits" + m.suffix
	TEXT(name, NOSPLIT, "func(rows *uint64)")
	Pragma("noescape")
	Doc(name + " is portable.TransposeBits for rows of one vector.")
	size := m.bytes()
	m.eights(0x00000000ffffffff, 0x0000ffff0000ffff, 0x00ff00ff00ff00ff, 32, 8*size, size)
	m.eights(0x0f0f0f0f0f0f0f0f, 0x3333333333333333, 0x5555555555555555, 4, size, 8*size)
	VZEROUPPER()
	RET()
}

// lines writes portable.PackBits, after the squares are transposed: of every source a line of
// eight words, one of each square. A vector has a word of four or eight sources; as many of
// them change places with as many squares.
func (m *machine) lines() {
	name := "lines" + m.suffix
	TEXT(name, NOSPLIT, "func(squares *uint64, out *byte, stride int)")
	Pragma("noescape")
	Doc(name + " is the second part of portable.PackBits for rows of one vector.")
	lanes, size := m.bytes()/8, m.bytes()
	flip, zero := m.v(15), m.v(14)
	m.ones(flip)
	m.zero(zero)
	squares, stride, i, again := pointer("squares"), Load(Param("stride"), GP64()).(reg.GPVirtual), GP64(), m.label("again")
	var outs []reg.GPVirtual
	for lane := range lanes {
		out := GP64()
		if lane == 0 {
			Load(Param("out"), out)
		} else {
			MOVQ(stride, out)
			SHLQ(U8(6), out)
			ADDQ(outs[lane-1], out)
		}
		outs = append(outs, out)
	}
	at := GP64()
	XORQ(at, at)
	MOVQ(U32(64), i)
	Label(again)
	for _, out := range outs { // the next line will be needed
		PREFETCHT0(Mem{Base: out, Index: at, Scale: 1, Disp: 64})
	}
	for first := 0; first < 8; first += lanes {
		rows := m.run(0, lanes)
		for j, row := range rows {
			from := Mem{Base: squares, Disp: (first + j) * 64 * size}
			m.xor(from, flip, row)
			m.move(zero, from)
		}
		for lane, v := range m.transposeWords(rows) {
			m.move(v, Mem{Base: outs[lane], Index: at, Scale: 1, Disp: 8 * first})
		}
	}
	ADDQ(stride, at)
	ADDQ(U8(size), squares)
	DECQ(i)
	JNE(LabelRef(again))
	VZEROUPPER()
	RET()
}

// transposeWords changes places of the words of four or eight rows, and returns where the
// columns are.
func (m *machine) transposeWords(rows []reg.VecPhysical) []reg.VecPhysical {
	spare := m.run(len(rows), len(rows))
	if m.wide {
		spare = m.run(16, len(rows))
	}
	for i := 0; i < len(rows); i += 2 { // words of a pair
		VPUNPCKLQDQ(rows[i+1], rows[i], spare[i])
		VPUNPCKHQDQ(rows[i+1], rows[i], spare[i+1])
	}
	if !m.wide {
		for i := range 2 { // pairs
			VPERM2I128(U8(0x20), spare[i+2], spare[i], rows[i])
			VPERM2I128(U8(0x31), spare[i+2], spare[i], rows[i+2])
		}
		return rows
	}
	// Even pairs of two rows, then odd ones; the same once more for fours.
	for half := 0; half < 8; half += 4 {
		for i := range 2 {
			VSHUFI64X2(U8(0x88), spare[half+i+2], spare[half+i], rows[half+i])
			VSHUFI64X2(U8(0xdd), spare[half+i+2], spare[half+i], rows[half+i+2])
		}
	}
	columns := make([]reg.VecPhysical, 8)
	for i := range 4 { // rows[i]: pairs i/2 and i/2+2 of lane i%2
		VSHUFI64X2(U8(0x88), rows[4+i], rows[i], spare[i])
		VSHUFI64X2(U8(0xdd), rows[4+i], rows[i], spare[4+i])
		columns[i], columns[4+i] = spare[i], spare[4+i]
	}
	return columns
}

// eights makes three steps, of distances from first down, on eight times eight rows: those of
// one time are apart bytes from each other, and the next begin next bytes on.
func (m *machine) eights(mask0, mask1, mask2 uint64, first uint64, apart, next int) {
	rows, masks, t := m.run(0, 8), m.run(10, 3), m.v(8)
	for i, mask := range []uint64{mask0, mask1, mask2} {
		bits := GP64()
		MOVQ(U64(mask), bits)
		VMOVQ(bits, masks[i].AsX())
		VPBROADCASTQ(masks[i].AsX(), masks[i])
	}
	table, i, again := pointer("rows"), GP64(), m.label("again")
	MOVQ(U32(8), i)
	Label(again)
	for j, row := range rows {
		m.move(Mem{Base: table, Disp: j * apart}, row)
	}
	for step, mask := range masks {
		m.swap(rows, mask, t, first>>step, 4>>step)
	}
	for j, row := range rows {
		m.move(row, Mem{Base: table, Disp: j * apart})
	}
	ADDQ(U32(next), table)
	DECQ(i)
	JNE(LabelRef(again))
}

// swap makes one step: of every two rows so far apart, the upper bits of the first change places
// with the lower ones of the second.
func (m *machine) swap(rows []reg.VecPhysical, mask, t reg.VecPhysical, distance uint64, apart int) {
	for k := range rows {
		if k&apart != 0 {
			continue
		}
		a, b := rows[k], rows[k+apart]
		VPSRLQ(U8(distance), a, t)
		if m.wide {
			VPTERNLOGQ(U8(0x28), mask, b, t) // (t ^ b) & mask
		} else {
			VPXOR(b, t, t)
			VPAND(mask, t, t)
		}
		m.xor(t, b, b)
		VPSLLQ(U8(distance), t, t)
		m.xor(t, a, a)
	}
}
