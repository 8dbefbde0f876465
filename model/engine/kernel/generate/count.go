package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// counter adds rows of bits in carry-save form (Harley and Seal): the ones and the twos stay in
// registers, and their carries, of weight 4, wait in memory until eight can be added at once. It
// emits nothing unless on is set.
type counter struct {
	*machine
	on bool
	// x are the four rows that are added next.
	x          []reg.VecPhysical
	ones, twos reg.VecPhysical
	planes     reg.GPVirtual
	pending    reg.GPVirtual
	waiting    reg.GPVirtual // bytes of pending rows
	// full are the labels of the code that drains the pending rows, back where each returns to.
	full, back []string
}

// newCounter returns a counter of bits, whose two lowest planes stay in registers; it counts nothing unless on.
func (m *machine) newCounter(on bool) *counter {
	c := &counter{machine: m, on: on, ones: m.v(2), twos: m.v(3), x: m.registers(4, 4)}
	if !on {
		return c
	}
	c.waiting = GP64()
	XORQ(c.waiting, c.waiting)
	planes := pointer("planes")
	m.move(Mem{Base: planes}, c.ones)
	m.move(Mem{Base: planes, Disp: m.bytes()}, c.twos)
	return c
}

// fullAdd adds x and y to acc and leaves the carry in carry.
func (m *machine) fullAdd(acc reg.VecPhysical, x, y Op, carry, scratch reg.VecPhysical) {
	if m.wide {
		VMOVDQA64(acc, carry)
		VPTERNLOGQ(U8(0xe8), y, x, carry) // majority
		VPTERNLOGQ(U8(0x96), y, x, acc)   // parity
		return
	}
	VPAND(x, acc, carry)
	VPXOR(x, acc, scratch)
	VPXOR(y, scratch, acc)
	VPAND(y, scratch, scratch)
	VPOR(scratch, carry, carry)
}

// halfAdd adds x to acc and leaves the carry in x.
func (m *machine) halfAdd(acc, x reg.VecPhysical) {
	m.xor(x, acc, acc)
	m.andNot(x, acc, x)
}

// drainIfFull jumps to code that drains the pending rows if there are too many.
func (c *counter) drainIfFull(back string) {
	if !c.on {
		return
	}
	full := c.label("full")
	CMPQ(c.waiting, U32(pendingRows*c.bytes()))
	JGE(LabelRef(full))
	c.full, c.back = append(c.full, full), append(c.back, back)
}

// wait appends a row of weight 4 to the pending rows.
func (c *counter) wait(carried reg.VecPhysical) {
	c.move(carried, Mem{Base: pointer("pending"), Index: c.waiting, Scale: 1})
	ADDQ(U8(c.bytes()), c.waiting)
}

// addFour adds the four rows of x.
func (c *counter) addFour() {
	if !c.on {
		return
	}
	first, second, carried, scratch := c.v(8), c.v(9), c.v(10), c.v(11)
	c.fullAdd(c.ones, c.x[0], c.x[1], first, scratch)
	c.fullAdd(c.ones, c.x[2], c.x[3], second, scratch)
	c.fullAdd(c.twos, first, second, carried, scratch)
	c.wait(carried)
}

// cut clears the rows of x after the last one.
func (c *counter) cut(last reg.GPVirtual) {
	if !c.on {
		return
	}
	if c.masks == nil {
		table := GLOBL("masks", attr.RODATA|attr.NOPTR)
		for i := range 7 {
			row := uint64(0)
			if i < 4 {
				row--
			}
			DATA(8*i, U64(row))
		}
		c.masks = &table
	}
	table, scratch := GP64(), c.v(11)
	LEAQ(*c.masks, table)
	SHLQ(U8(3), last)
	SUBQ(last, table)
	for i, x := range c.x {
		if i > 0 { // there is always a first
			VPBROADCASTQ(Mem{Base: table, Disp: 8 * (3 + i)}, scratch)
			c.and(scratch, x, x)
		}
	}
}

// outOfLine emits the code that drainIfFull jumps to.
func (c *counter) outOfLine() {
	for i, full := range c.full {
		Label(full)
		c.drain()
		JMP(LabelRef(c.back[i]))
	}
}

// drain adds the pending rows to the planes of weight 4 and above, eight at a time, padded with
// zeros. Each eight propagate one carry of weight 32.
func (c *counter) drain() {
	four, eight, sixteen := c.v(4), c.v(5), c.v(6)
	a, b, c8, d8, scratch, x := c.v(7), c.v(8), c.v(9), c.v(10), c.v(11), c.v(12)
	planes, pending, plane := pointer("planes"), pointer("pending"), GP64()
	size := c.bytes()
	// Pad the pending rows to a multiple of eight.
	LEAQ(Mem{Base: pending, Index: c.waiting, Scale: 1}, plane)
	c.zero(x)
	for i := range 7 {
		c.move(x, Mem{Base: plane, Disp: i * size})
	}
	for k, acc := range []reg.VecPhysical{four, eight, sixteen} {
		c.move(Mem{Base: planes, Disp: (2 + k) * size}, acc)
	}
	next, carry, carried, done := c.label("eight"), c.label("carry"), c.label("carried"), c.label("drained")
	Label(next)
	CMPQ(c.waiting, U8(0))
	JLE(LabelRef(done))
	// Eight rows of weight 4 become one of weight 32, by full adders.
	pair := func(at int, out reg.VecPhysical) {
		c.move(Mem{Base: pending, Disp: at * size}, x)
		c.fullAdd(four, x, Mem{Base: pending, Disp: (at + 1) * size}, out, scratch)
	}
	pair(0, a)
	pair(2, b)
	c.fullAdd(eight, a, b, c8, scratch)
	pair(4, a)
	pair(6, b)
	c.fullAdd(eight, a, b, d8, scratch)
	c.fullAdd(sixteen, c8, d8, a, scratch)
	// Propagate the carry through the planes in memory until it is empty.
	LEAQ(Mem{Base: planes, Disp: 5 * size}, plane)
	Label(carry)
	c.test(a, a)
	JEQ(LabelRef(carried))
	c.move(Mem{Base: plane}, x)
	c.halfAdd(x, a)
	c.move(x, Mem{Base: plane})
	ADDQ(U8(size), plane)
	JMP(LabelRef(carry))
	Label(carried)
	ADDQ(U32(8*size), pending)
	SUBQ(U32(8*size), c.waiting)
	JMP(LabelRef(next))
	Label(done)
	for k, acc := range []reg.VecPhysical{four, eight, sixteen} {
		c.move(acc, Mem{Base: planes, Disp: (2 + k) * size})
	}
	XORQ(c.waiting, c.waiting)
}

// finish drains the pending rows and stores the ones and twos.
func (c *counter) finish() {
	if !c.on {
		return
	}
	c.drain()
	planes := pointer("planes")
	c.move(c.ones, Mem{Base: planes})
	c.move(c.twos, Mem{Base: planes, Disp: c.bytes()})
}
