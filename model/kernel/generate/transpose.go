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
	TEXT(name, NOSPLIT, "func(rows *uint64, out *byte, stride int, flip uint64)")
	Pragma("noescape")
	Doc(name + " is portable.TransposeBits for rows of one vector.")
	squares, rows := m.bytes()/8, m.run(0, 8)
	t, flip, masks := m.v(8), m.v(9), m.run(10, 3)
	table, i, size := pointer("rows"), GP64(), m.bytes()

	VPBROADCASTQ(memoryOf("flip"), flip)
	m.pattern(masks, 0x00000000ffffffff, 0x0000ffff0000ffff, 0x00ff00ff00ff00ff)
	m.times(8, i, func() {
		for j, row := range rows {
			m.xor(Mem{Base: table, Disp: 8 * j * size}, flip, row)
		}
		m.steps(rows, masks, t, 32)
		for j, row := range rows {
			m.move(row, Mem{Base: table, Disp: 8 * j * size})
		}
		ADDQ(U8(size), table)
	})

	m.pattern(masks, 0x0f0f0f0f0f0f0f0f, 0x3333333333333333, 0x5555555555555555)
	table = pointer("rows")
	stride, at := Load(Param("stride"), GP64()).(reg.GPVirtual), GP64()
	XORQ(at, at)
	var outs []reg.GPVirtual
	for square := range squares {
		out := GP64()
		if square == 0 {
			Load(Param("out"), out)
		} else {
			MOVQ(stride, out)
			SHLQ(U8(6), out)
			ADDQ(outs[square-1], out)
		}
		outs = append(outs, out)
	}
	m.times(8, i, func() {
		for j, row := range rows {
			m.move(Mem{Base: table, Disp: j * size}, row)
		}
		m.steps(rows, masks, t, 4)
		for _, row := range rows {
			for pair := range squares / 2 {
				x := row.AsX()
				switch {
				case pair > 0 && m.wide:
					x = t.AsX()
					VEXTRACTI64X2(U8(pair), row, x)
				case pair > 0:
					x = t.AsX()
					VEXTRACTI128(U8(1), row, x)
				}
				VMOVLPS(x, Mem{Base: outs[2*pair], Index: at, Scale: 1})
				VMOVHPS(x, Mem{Base: outs[2*pair+1], Index: at, Scale: 1})
			}
			ADDQ(stride, at)
		}
		ADDQ(U32(8*size), table)
	})
	VZEROUPPER()
	RET()
}

// times repeats body.
func (m *machine) times(count uint64, i reg.GPVirtual, body func()) {
	again := m.label("again")
	MOVQ(U32(count), i)
	Label(again)
	body()
	DECQ(i)
	JNE(LabelRef(again))
}

// pattern fills registers with 64 bits each.
func (m *machine) pattern(vs []reg.VecPhysical, patterns ...uint64) {
	for i, v := range vs {
		t := GP64()
		MOVQ(U64(patterns[i]), t)
		VMOVQ(t, v.AsX())
		VPBROADCASTQ(v.AsX(), v)
	}
}

// steps makes three steps on eight rows, of distances from first down.
func (m *machine) steps(rows, masks []reg.VecPhysical, t reg.VecPhysical, first uint64) {
	for step, mask := range masks {
		distance, apart := first>>step, 4>>step
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
}

// memoryOf is where a parameter lies.
func memoryOf(name string) Op {
	component, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return component.Addr
}
