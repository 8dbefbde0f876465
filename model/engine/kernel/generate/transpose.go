package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transposeBits writes portable.TransposeBits: each word of the 64 rows is a square of its own. Of the
// six steps three work on eight rows that lie eight apart, and three on eight adjacent rows.
func (m *machine) transposeBits() {
	m.function("transposeBits", "func(rows *uint64)",
		"is portable.TransposeBits for rows of one vector.")
	size := m.bytes()
	m.eights(pointer("rows"), m.wideSteps(9), 8*size, size)
	m.eights(pointer("rows"), m.narrowSteps(9), size, 8*size)
	VZEROUPPER()
	RET()
}

// squares writes the first step of portable.PackBits: it lists the bits of 128 entities' distances,
// four rows each, and transposes these 8 squares of 64 rows.
func (m *machine) squares() {
	m.function("squares", "func(reached, frontier, next, distances *uint64, plane, planes, before, last int, squares *uint64)",
		"is the first step of portable.PackBits for rows of one vector.")
	size := m.bytes()
	rows, t, zero := m.registers(0, 8), m.v(8), m.v(8)
	wide, narrow := m.wideSteps(9), m.narrowSteps(12)
	ones := m.v(15)
	reached, frontier, next := pointer("reached"), pointer("frontier"), pointer("next")
	distances, table := pointer("distances"), pointer("squares")
	left, square := GP64(), m.label("square")
	MOVQ(U32(8), left)
	Label(square)
	for half := range 2 { // entities of even index, then of odd
		k, bits, out := GP64(), GP64(), GP64()
		each, absent := m.label("plane"), m.label("absent")
		XORQ(k, k)
		MOVQ(distances, bits)
		MOVQ(table, out)
		Label(each)
		m.ones(ones)
		for j, row := range rows { // an unreached entity has all bits
			m.move(Mem{Base: next, Disp: (2*j + half) * size}, row)
			m.or(Mem{Base: reached, Disp: (2*j + half) * size}, row, row)
			m.xor(row, ones, row)
		}
		// Planes that the search did not use have only the unreached entities' bits.
		CMPQ(k, Load(Param("planes"), GP64()))
		JGE(LabelRef(absent))
		m.zero(zero)
		for j, row := range rows {
			from := Mem{Base: bits, Disp: (2*j + half) * size}
			m.or(from, row, row)
			m.move(zero, from)
		}
		Label(absent)
		// The entities found in the last two steps are not in the planes yet.
		for _, found := range []struct {
			table    reg.GPVirtual
			distance string
		}{{frontier, "before"}, {next, "last"}} {
			without := m.label("without")
			BTQ(k, Load(Param(found.distance), GP64()))
			JCC(LabelRef(without))
			for j, row := range rows {
				m.or(Mem{Base: found.table, Disp: (2*j + half) * size}, row, row)
			}
			Label(without)
		}
		// The first transposition is of the squares' rows in registers.
		m.make(wide, rows, t)
		for j, row := range rows {
			m.move(row, Mem{Base: out, Disp: (8*j + 4*half) * size})
		}
		ADDQ(Load(Param("plane"), GP64()), bits)
		ADDQ(U8(size), out)
		INCQ(k)
		CMPQ(k, U8(4))
		JL(LabelRef(each))
		m.zero(zero)
		for j := range rows {
			m.move(zero, Mem{Base: frontier, Disp: (2*j + half) * size})
			m.move(zero, Mem{Base: next, Disp: (2*j + half) * size})
		}
	}
	m.eights(table, narrow, size, 8*size)
	ADDQ(U32(16*size), reached)
	ADDQ(U32(16*size), frontier)
	ADDQ(U32(16*size), next)
	ADDQ(U32(16*size), distances)
	DECQ(left)
	JNE(LabelRef(square))
	VZEROUPPER()
	RET()
}

// lines writes the second step of portable.PackBits: for every source a cache line of eight words,
// one of each square. A vector has one word of four or eight sources; blocks of as many squares are
// transposed.
func (m *machine) lines() {
	m.function("lines", "func(squares *uint64, out *byte, stride int)",
		"is the second step of portable.PackBits for rows of one vector.")
	if m.wide { // a vector is a line
		unaligned, bits := m.label("unaligned"), pointer("out")
		ORQ(Load(Param("stride"), GP64()), bits)
		TESTQ(U32(63), bits)
		JNE(LabelRef(unaligned))
		m.eachLine(true)
		Label(unaligned)
	}
	m.eachLine(false)
}

// eachLine is the body of lines. Whole lines may bypass the caches, so that they do not evict what the
// next search reads.
func (m *machine) eachLine(past bool) {
	lanes, size := m.bytes()/8, m.bytes()
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
	// Each iteration writes a cache line of every lane.
	at := GP64()
	XORQ(at, at)
	MOVQ(U32(64), i)
	Label(again)
	for _, out := range outs { // the next line is written soon
		if !past {
			PREFETCHT0(Mem{Base: out, Index: at, Scale: 1, Disp: 64})
		}
	}
	for first := 0; first < 8; first += lanes {
		rows := m.registers(0, lanes)
		for j, row := range rows {
			m.move(Mem{Base: squares, Disp: (first + j) * 64 * size}, row)
		}
		for lane, v := range m.transposeWords(rows) {
			to := Mem{Base: outs[lane], Index: at, Scale: 1, Disp: 8 * first}
			if past {
				VMOVNTDQ(v, to)
			} else {
				m.move(v, to)
			}
		}
	}
	ADDQ(stride, at)
	ADDQ(U8(size), squares)
	DECQ(i)
	JNE(LabelRef(again))
	if past {
		SFENCE()
	}
	VZEROUPPER()
	RET()
}

// transposeWords transposes the words of four or eight rows and returns the registers of the columns.
func (m *machine) transposeWords(rows []reg.VecPhysical) []reg.VecPhysical {
	spare := m.registers(len(rows), len(rows))
	if m.wide {
		spare = m.registers(16, len(rows))
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

// steps are three steps of a transposition: the greatest distance, and a mask for each.
type steps struct {
	first uint64
	masks []reg.VecPhysical
}

// wideSteps are the first three, narrowSteps the others; both keep masks in vectors from v on.
func (m *machine) wideSteps(v int) steps {
	return m.newSteps(v, 32, 0x00000000ffffffff, 0x0000ffff0000ffff, 0x00ff00ff00ff00ff)
}

func (m *machine) narrowSteps(v int) steps {
	return m.newSteps(v, 4, 0x0f0f0f0f0f0f0f0f, 0x3333333333333333, 0x5555555555555555)
}

// newSteps fills registers from v on with masks, for steps of the transposition whose greatest distance is first.
func (m *machine) newSteps(v int, first uint64, masks ...uint64) steps {
	s := steps{first, m.registers(v, len(masks))}
	for i, mask := range masks {
		bits := GP64()
		MOVQ(U64(mask), bits)
		VMOVQ(bits, s.masks[i].AsX())
		VPBROADCASTQ(s.masks[i].AsX(), s.masks[i])
	}
	return s
}

// make applies the steps to eight rows.
func (m *machine) make(s steps, rows []reg.VecPhysical, t reg.VecPhysical) {
	for step, mask := range s.masks {
		m.swap(rows, mask, t, s.first>>step, 4>>step)
	}
}

// eights applies steps to eight groups of eight rows and advances table past them: the rows of a group
// are apart bytes from each other, and the next group begins next bytes on.
func (m *machine) eights(table reg.GPVirtual, s steps, apart, next int) {
	rows, t := m.registers(0, 8), m.v(8)
	i, again := GP64(), m.label("again")
	MOVQ(U32(8), i)
	Label(again)
	for j, row := range rows {
		m.move(Mem{Base: table, Disp: j * apart}, row)
	}
	m.make(s, rows, t)
	for j, row := range rows {
		m.move(row, Mem{Base: table, Disp: j * apart})
	}
	ADDQ(U32(next), table)
	DECQ(i)
	JNE(LabelRef(again))
}

// swap applies one step: of every two rows at that distance, it swaps the upper bits of the first with
// the lower bits of the second.
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
