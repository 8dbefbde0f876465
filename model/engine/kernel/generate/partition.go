package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// partition writes the senders of each receiver to a list: parents, siblings, children. It reads a
// vector of senders at once, compresses each kind to the front of a register, and stores
// the whole register; the next store overwrites the rest of it.
func (m *machine) partition() {
	m.function("partition",
		"func(count int, receivers *int32, offsets *int64, senders, relations *int32, rows *int32, reached *uint64, parents, siblings, children, "+
			"unreached, table int32, listedOffsets, intoRows, intoRelations, siblingRows, siblingRelations, childRows, childRelations *int32, end *int64)",
		fmt.Sprintf("is portable.PartitionSenders, %d senders at once.", m.floats()))
	p := &partitioner{machine: m, i: GP64(), end: GP64(), listed: pointer("listedOffsets"), senders: pointer("senders"), relations: pointer("relations"),
		rows: pointer("rows")}
	if m.wide {
		p.classifier = &opmasks{partitioner: p}
	} else {
		p.classifier = &bytemasks{partitioner: p, kinds: [3]reg.VecPhysical{m.v(9), m.v(10), m.v(11)}, read: m.v(12), gather: m.v(13), order: m.v(14)}
	}
	// The rows that a sender is compared with, in all lanes.
	XORQ(p.i, p.i)
	MOVQ(Mem{Base: pointer("end")}, p.end)
	for at, what := range []string{"parents", "siblings", "children", "unreached", "table"} {
		p.limits[at] = m.v(at)
		m.fill(Load(Param(what), GP32()).(reg.GPVirtual), p.limits[at])
	}
	p.sender, p.row, p.relation, p.front = m.v(5), m.v(6), m.v(7), m.v(8)

	next, done := m.label("receiver"), m.label("done")
	Label(next)
	MOVL(p.end.As32(), Mem{Base: p.listed})
	CMPQ(p.i, Load(Param("count"), GP64()))
	JGE(LabelRef(done))
	p.receiver()
	INCQ(p.i)
	ADDQ(U8(12), p.listed)
	JMP(LabelRef(next))
	Label(done)
	MOVQ(p.end, Mem{Base: pointer("end")})
	VZEROUPPER()
	RET()
}

// partitioner has the registers of partition.
type partitioner struct {
	*machine
	i                        reg.GPVirtual // the receiver's index
	listed                   reg.GPVirtual // its entries of Senders.Offsets
	senders, relations, rows reg.GPVirtual
	end                      reg.GPVirtual      // the number of senders listed so far
	limits                   [5]reg.VecPhysical // the limits that rows are compared with, and the rows of a table

	sender, row, relation, front reg.VecPhysical
	classifier
}

// classifier determines the kinds of a vector of senders with the means of an instruction set.
type classifier interface {
	// some and all set the number of senders in the vector: left, or as many as it holds.
	some(left reg.GPVirtual)
	all()
	// classify reads the senders from e on, marks those that are unreached as reached, and keeps
	// the kind of each.
	classify(e reg.GPVirtual)
	// choose selects a kind and returns the number of its senders; compress moves these to the
	// front of a register.
	choose(kind int) (count reg.GPVirtual)
	compress(from, front reg.VecPhysical)
}

// receiver classifies the senders of one receiver. If they fit into one vector, the kinds are stored one after the
// other. Otherwise siblings and children wait in buffers until the last parent is known.
func (p *partitioner) receiver() {
	receiver, offsets, e, left := GP64(), pointer("offsets"), GP64(), GP64()
	p.prefetchLists(p.i, offsets, p.senders, p.relations)
	MOVLQSX(Mem{Base: pointer("receivers"), Index: p.i, Scale: 4}, receiver)
	MOVQ(Mem{Base: offsets, Index: receiver, Scale: 8}, e)
	MOVQ(Mem{Base: offsets, Index: receiver, Scale: 8, Disp: 8}, left)
	SUBQ(e, left)
	several, end := p.label("several"), p.label("end")
	CMPQ(left, U8(p.floats()))
	JG(LabelRef(several))
	p.some(left)
	p.classify(e)
	for kind := range 3 {
		if kind > 0 {
			MOVL(p.end.As32(), Mem{Base: p.listed, Disp: 4 * kind})
		}
		p.put(kind, "intoRows", "intoRelations", p.end)
	}
	JMP(LabelRef(end))
	Label(several)
	p.several(e, left)
	Label(end)
}

// several classifies more than one vector of senders.
func (p *partitioner) several(e, left reg.GPVirtual) {
	siblings, children := GP64(), GP64()
	XORQ(siblings, siblings)
	XORQ(children, children)
	loop, rest, part, end := p.label("loop"), p.label("rest"), p.label("classify"), p.label("end")
	Label(loop)
	CMPQ(left, U8(p.floats()))
	JL(LabelRef(rest))
	p.all()
	Label(part)
	p.classify(e)
	p.put(0, "intoRows", "intoRelations", p.end)
	p.put(1, "siblingRows", "siblingRelations", siblings)
	p.put(2, "childRows", "childRelations", children)
	ADDQ(U8(p.floats()), e)
	SUBQ(U8(p.floats()), left)
	JMP(LabelRef(loop))
	Label(rest)
	TESTQ(left, left)
	JLE(LabelRef(end))
	p.some(left)
	JMP(LabelRef(part))
	Label(end)
	MOVL(p.end.As32(), Mem{Base: p.listed, Disp: 4})
	p.append("sibling", siblings)
	MOVL(p.end.As32(), Mem{Base: p.listed, Disp: 8})
	p.append("child", children)
}

// append copies waiting senders to the end of the list. The first vector is copied without testing
// whether there is any: mostly there is exactly one.
func (p *partitioner) append(what string, count reg.GPVirtual) {
	rows, relations := pointer(what+"Rows"), pointer(what+"Relations")
	intoRows, intoRelations := pointer("intoRows"), pointer("intoRelations")
	at, to := GP64(), GP64()
	XORQ(at, at)
	MOVQ(p.end, to)
	ADDQ(count, p.end)
	loop := p.label("copy")
	Label(loop)
	VMOVUPS(Mem{Base: rows, Index: at, Scale: 4}, p.row)
	VMOVUPS(p.row, Mem{Base: intoRows, Index: to, Scale: 4})
	VMOVUPS(Mem{Base: relations, Index: at, Scale: 4}, p.row)
	VMOVUPS(p.row, Mem{Base: intoRelations, Index: to, Scale: 4})
	ADDQ(U8(p.floats()), at)
	ADDQ(U8(p.floats()), to)
	CMPQ(at, count)
	JL(LabelRef(loop))
}

// put stores the senders of a kind at an end and advances it: the rows of parents, the rows of
// siblings minus a table, and the entities of children.
func (p *partitioner) put(kind int, rows, relations string, end reg.GPVirtual) {
	count, who := p.choose(kind), p.row
	if kind == 2 {
		who = p.sender
	}
	p.compress(who, p.front)
	if kind == 1 {
		VPSUBD(p.limits[4], p.front, p.front)
	}
	VMOVUPS(p.front, Mem{Base: pointer(rows), Index: end, Scale: 4})
	p.compress(p.relation, p.front)
	VMOVUPS(p.front, Mem{Base: pointer(relations), Index: end, Scale: 4})
	ADDQ(count, end)
}

// reach marks senders from e on as newly reached: the ones whose bits are set in left, at least one.
func (p *partitioner) reach(e, left reg.GPVirtual) {
	next := p.label("reach")
	Label(next)
	sender, bit := GP64(), GP64()
	TZCNTL(left, sender.As32())
	ADDQ(e, sender)
	MOVLQSX(Mem{Base: p.senders, Index: sender, Scale: 4}, sender)
	MOVL(U32(newlyReached), Mem{Base: p.rows, Index: sender, Scale: 4})
	MOVL(U32(1), bit.As32())
	SHLXQ(sender, bit, bit)
	SHRQ(U8(6), sender)
	ORQ(bit, Mem{Base: pointer("reached"), Index: sender, Scale: 8})
	BLSRL(left, left)
	JNZ(LabelRef(next))
}

// newlyReached is kernel.NewlyReached.
const newlyReached = 1<<31 - 2

// prefetchedLines is the number of cache lines of a receiver's lists that are prefetched, of 16
// senders each: all of them for most receivers.
const prefetchedLines = 3

// prefetchLists prefetches the lists of a later receiver, and the offsets of a still later one:
// receivers are in another order than their lists.
func (m *machine) prefetchLists(i, offsets, senders, relations reg.GPVirtual) {
	receivers, last := pointer("receivers"), Load(Param("count"), GP64()).(reg.GPVirtual)
	DECQ(last)
	later := func(ahead int) reg.GPVirtual {
		at := GP64()
		LEAQ(Mem{Base: i, Disp: ahead}, at)
		CMPQ(at, last)
		CMOVQGT(last, at)
		MOVLQSX(Mem{Base: receivers, Index: at, Scale: 4}, at)
		return at
	}
	PREFETCHT0(Mem{Base: offsets, Index: later(16), Scale: 8})
	begin := GP64()
	MOVQ(Mem{Base: offsets, Index: later(8), Scale: 8}, begin)
	for at := range prefetchedLines {
		PREFETCHT0(Mem{Base: senders, Index: begin, Scale: 4, Disp: 64 * at})
		PREFETCHT0(Mem{Base: relations, Index: begin, Scale: 4, Disp: 64 * at})
	}
}
