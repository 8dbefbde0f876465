package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// folder is the walk along vectors of equal length, from the last to the first.
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

// each calls body for every vector, which stands at base plus the given index.
func (f *folder) each(body func(at func(base reg.GPVirtual) Mem)) {
	next, end, i := f.label("next"), f.label("end"), GP64()
	XORQ(i, i)
	Label(next)
	CMPQ(i, f.count)
	JGE(LabelRef(end))
	body(func(base reg.GPVirtual) Mem { return Mem{Base: base, Index: i, Scale: 4} })
	ADDQ(U8(f.lanes()), i)
	JMP(LabelRef(next))
	Label(end)
	VZEROUPPER()
	RET()
}

// fold writes out = a + x b + y c.
func (m *machine) fold() {
	TEXT("fold"+m.suffix, NOSPLIT, "func(count int, out, a, b, c *float32, x, y float32)")
	Pragma("noescape")
	Doc("fold" + m.suffix + " is portable.Fold for whole vectors.")
	f := m.newFolder()
	out, a, b, c := pointer("out"), pointer("a"), pointer("b"), pointer("c")
	x, y, sum, product := m.v(0), m.v(1), m.v(2), m.v(3)
	m.scalar("x", x)
	m.scalar("y", y)
	f.each(func(at func(reg.GPVirtual) Mem) {
		VMULPS(at(b), x, sum)
		VADDPS(at(a), sum, sum)
		VMULPS(at(c), y, product)
		VADDPS(product, sum, sum)
		VMOVUPS(sum, at(out))
	})
}

// unfold adds g, x g and y g to a, b and c.
func (m *machine) unfold() {
	TEXT("unfold"+m.suffix, NOSPLIT, "func(count int, a, b, c, gradient *float32, x, y float32)")
	Pragma("noescape")
	Doc("unfold" + m.suffix + " is portable.Unfold for whole vectors.")
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
