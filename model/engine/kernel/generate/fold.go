package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// folder is the loop over arrays of equal length.
type folder struct {
	*machine
	count reg.GPVirtual
}

func (m *machine) newFolder() *folder { return &folder{machine: m, count: pointer("count")} }

// scalar fills v with a parameter.
func (m *machine) scalar(name string, v reg.VecPhysical) {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(p.Addr, v)
}

// each is the loop over vectors; at returns the address of the current one of an array.
func (f *folder) each(body func(at func(base reg.GPVirtual) Mem)) {
	next, end, i := f.label("next"), f.label("end"), GP64()
	XORQ(i, i)
	Label(next)
	CMPQ(i, f.count)
	JGE(LabelRef(end))
	body(func(base reg.GPVirtual) Mem { return Mem{Base: base, Index: i, Scale: 4} })
	ADDQ(U8(f.floats()), i)
	JMP(LabelRef(next))
	Label(end)
	VZEROUPPER()
	RET()
}

// fold writes out = a + x b + y c.
func (m *machine) fold() {
	m.function("fold", "func(count int, out, a, b, c *float32, x, y float32)",
		"is portable.Fold for whole vectors.")
	m.folded("out", "x", "y")
}

// foldTwo writes two such sums of the same three terms.
func (m *machine) foldTwo() {
	m.function("foldTwo", "func(count int, out, other, a, b, c *float32, x, y, otherX, otherY float32)",
		"is portable.FoldTwo for whole vectors.")
	m.folded("out", "x", "y", "other", "otherX", "otherY")
}

// folded writes sums of a, b and c; names are, for each sum, its output and two scalars.
func (m *machine) folded(names ...string) {
	f := m.newFolder()
	a, b, c := pointer("a"), pointer("b"), pointer("c")
	terms, sum, product := m.registers(0, 3), m.v(3), m.v(4)
	type output struct {
		out  reg.GPVirtual
		x, y reg.VecPhysical
	}
	var outputs []output
	for i := 0; i < len(names); i += 3 {
		o := output{pointer(names[i]), m.v(5 + i), m.v(6 + i)}
		m.scalar(names[i+1], o.x)
		m.scalar(names[i+2], o.y)
		outputs = append(outputs, o)
	}
	f.each(func(at func(reg.GPVirtual) Mem) {
		for i, term := range []reg.GPVirtual{a, b, c} {
			VMOVUPS(at(term), terms[i])
		}
		for _, o := range outputs {
			VMULPS(terms[1], o.x, sum)
			VADDPS(terms[0], sum, sum)
			VMULPS(terms[2], o.y, product)
			VADDPS(product, sum, sum)
			VMOVUPS(sum, at(o.out))
		}
	})
}

// unfold adds g, x g and y g to a, b and c.
func (m *machine) unfold() {
	m.function("unfold", "func(count int, a, b, c, gradient *float32, x, y float32)",
		"is portable.Unfold for whole vectors.")
	f := m.newFolder()
	a, b, c, gradient := pointer("a"), pointer("b"), pointer("c"), pointer("gradient")
	x, y, g, sum := m.v(0), m.v(1), m.v(2), m.v(3)
	m.scalar("x", x)
	m.scalar("y", y)
	f.each(func(at func(reg.GPVirtual) Mem) {
		VMOVUPS(at(gradient), g)
		VADDPS(at(a), g, sum)
		VMOVUPS(sum, at(a))
		VMULPS(g, x, sum)
		VADDPS(at(b), sum, sum)
		VMOVUPS(sum, at(b))
		VMULPS(g, y, sum)
		VADDPS(at(c), sum, sum)
		VMOVUPS(sum, at(c))
	})
}
