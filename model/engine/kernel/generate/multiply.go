package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// multiply writes the product of a panel: c (rows x columns vectors) from a (rows x terms) and
// b (terms x columns vectors). a is read with one stride for rows and one for terms, so the same
// function computes transposed products. Every entry is one chain of fused additions in the order
// of the terms, whatever the number of rows, starting from zero or from c.
//
// With masked, mask selects the columns of the single vector that exist.
func (m *machine) multiply(most, columns int, masked bool) {
	name := fmt.Sprintf("multiply%d", columns*m.floats())
	extra := ""
	if masked {
		name, extra = "multiplyMasked", ", mask uint32"
	}
	m.function(name, "func(c, a, b *float32, rows, terms, cRow, aRow, aTerm, bRow int, add bool"+extra+")",
		"computes a panel of c = a b or c += a b, as portable.Multiply does.")
	p := &panel{machine: m, columns: columns, masked: masked}
	p.c, p.a, p.rows = pointer("c"), pointer("a"), pointer("rows")
	p.aRow, p.aTerm, p.bRow = pointer("aRow"), pointer("aTerm"), pointer("bRow")
	if masked {
		p.loadMask()
	}
	next, rest, end := m.label("next"), m.label("rest"), m.label("end")
	// Tiles of most rows.
	Label(next)
	CMPQ(p.rows, U8(most))
	JL(LabelRef(rest))
	p.tile(most)
	advance := GP64()
	MOVQ(p.aRow, advance)
	IMUL3Q(U8(most), advance, advance)
	ADDQ(advance, p.a)
	SUBQ(U8(most), p.rows)
	JMP(LabelRef(next))
	// One tile for the rest, by its number of rows.
	Label(rest)
	var labels []string
	for r := 1; r < most; r++ {
		labels = append(labels, m.label("rows"))
		CMPQ(p.rows, U8(r))
		JE(LabelRef(labels[r-1]))
	}
	JMP(LabelRef(end))
	for r := 1; r < most; r++ {
		Label(labels[r-1])
		p.tile(r)
		JMP(LabelRef(end))
	}
	Label(end)
	VZEROUPPER()
	RET()
}

// panel has the registers of multiply.
type panel struct {
	*machine
	columns           int
	masked            bool
	c, a, rows        reg.GPVirtual
	aRow, aTerm, bRow reg.GPVirtual
}

func (p *panel) maskRegister() reg.VecPhysical { return p.v(15) }

// loadMask loads the mask of the columns that exist, into an opmask register or as a vector.
func (p *panel) loadMask() {
	bits := Load(Param("mask"), GP32()).(reg.GPVirtual)
	if p.wide {
		KMOVW(bits, mask)
		return
	}
	p.expand(bits, p.maskRegister())
}

// load loads a vector, with masked the columns that exist and zeros for the others.
func (p *panel) load(from Mem, v reg.VecPhysical) {
	switch {
	case !p.masked:
		VMOVUPS(from, v)
	case p.wide:
		VMOVUPS_Z(from, mask, v)
	default:
		VMASKMOVPS(from, p.maskRegister(), v)
	}
}

// store stores a vector, with masked only the columns that exist.
func (p *panel) store(v reg.VecPhysical, to Mem) {
	switch {
	case !p.masked:
		VMOVUPS(v, to)
	case p.wide:
		VMOVUPS(v, mask, to)
	default:
		VMASKMOVPS(v, p.maskRegister(), to)
	}
}

// tile computes some rows of the panel and advances c past them.
func (p *panel) tile(rows int) {
	sums := p.registers(0, rows*p.columns)
	bs := p.registers(rows*p.columns, p.columns)
	x := p.v(rows*p.columns + p.columns)
	cRow := pointer("cRow")
	p.start(rows, sums, cRow)

	// One pointer for every three rows: they are at 0, 1 and 2 strides from it.
	var pointers []reg.GPVirtual
	for r := 0; r < rows; r += 3 {
		at := GP64()
		if r == 0 {
			MOVQ(p.a, at)
		} else {
			LEAQ(Mem{Base: pointers[len(pointers)-1], Index: p.aRow, Scale: 2}, at)
			ADDQ(p.aRow, at)
		}
		pointers = append(pointers, at)
	}
	// Each term adds a column of a times a row of b to the sums.
	b, terms := pointer("b"), pointer("terms")
	loop, done := p.label("terms"), p.label("done")
	TESTQ(terms, terms)
	JLE(LabelRef(done))
	Label(loop)
	for j := range p.columns {
		p.load(Mem{Base: b, Disp: j * p.bytes()}, bs[j])
	}
	for r := range rows {
		from := Mem{Base: pointers[r/3]}
		if r%3 > 0 {
			from.Index, from.Scale = p.aRow, uint8(r%3)
		}
		if p.wide && p.columns == 1 {
			VFMADD231PS_BCST(from, bs[0], sums[r])
			continue
		}
		VBROADCASTSS(from, x)
		for j := range p.columns {
			VFMADD231PS(x, bs[j], sums[r*p.columns+j])
		}
	}
	for _, at := range pointers {
		ADDQ(p.aTerm, at)
	}
	ADDQ(p.bRow, b)
	DECQ(terms)
	JNZ(LabelRef(loop))
	Label(done)
	for r := range rows {
		for j := range p.columns {
			p.store(sums[r*p.columns+j], Mem{Base: p.c, Disp: j * p.bytes()})
		}
		ADDQ(cRow, p.c)
	}
}

// start sets the sums to zero or to c.
func (p *panel) start(rows int, sums []reg.VecPhysical, cRow reg.GPVirtual) {
	zero, ready := p.label("zero"), p.label("ready")
	add, at := GP64(), GP64()
	addByte := Load(Param("add"), add.As8())
	TESTB(addByte, addByte)
	JZ(LabelRef(zero))
	MOVQ(p.c, at)
	for r := range rows {
		for j := range p.columns {
			p.load(Mem{Base: at, Disp: j * p.bytes()}, sums[r*p.columns+j])
		}
		ADDQ(cRow, at)
	}
	JMP(LabelRef(ready))
	Label(zero)
	for _, v := range sums {
		p.zero(v)
	}
	Label(ready)
}
