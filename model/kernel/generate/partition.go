package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// partition writes the senders of each receiver to a list, by their rows: parents, siblings,
// children. A vector of 16 is read at once; each kind's are compressed to the front and stored
// whole, over what comes next there.
func (m *machine) partition() {
	name := "partition" + m.suffix
	TEXT(name, NOSPLIT, "func(count int, receivers *int32, offsets *int64, senders, relations *int32, rows *int32, reached *uint64, parents, siblings, children, unreached, table int32, bounds, intoRows, intoRelations, siblingRows, siblingRelations, childRows, childRelations *int32, end *int64)")
	Pragma("noescape")
	Doc(name + " is portable.Part, 16 senders at once.")
	p := &parter{machine: m, i: GP64(), end: GP64(), bounds: pointer("bounds"), senders: pointer("senders"), relations: pointer("relations"), rows: pointer("rows")}
	XORQ(p.i, p.i)
	MOVQ(Mem{Base: pointer("end")}, p.end)
	for at, what := range []string{"parents", "siblings", "children", "unreached", "table"} {
		p.wanted[at] = m.v(at)
		VPBROADCASTD(Load(Param(what), GP32()), p.wanted[at])
	}
	p.sender, p.row, p.relation, p.front = m.v(5), m.v(6), m.v(7), m.v(8)

	next, done := m.label("receiver"), m.label("done")
	Label(next)
	MOVL(p.end.As32(), Mem{Base: p.bounds})
	CMPQ(p.i, Load(Param("count"), GP64()))
	JGE(LabelRef(done))
	p.receiver()
	INCQ(p.i)
	ADDQ(U8(12), p.bounds)
	JMP(LabelRef(next))
	Label(done)
	MOVQ(p.end, Mem{Base: pointer("end")})
	VZEROUPPER()
	RET()
}

// parter is what parting a receiver's senders needs.
type parter struct {
	*machine
	i                        reg.GPVirtual // the receiver's place
	bounds                   reg.GPVirtual // its bounds
	senders, relations, rows reg.GPVirtual
	end                      reg.GPVirtual      // how many senders there are in all
	wanted                   [5]reg.VecPhysical // what the rows are compared with, and the rows of a table

	sender, row, relation, front reg.VecPhysical
}

// kinds are the masks of the parents, siblings and children in a vector of senders.
var kinds = [3]reg.OpmaskPhysical{reg.K3, reg.K4, reg.K5}

// receiver parts the senders of one. Where they are one vector, all kinds are stored one behind
// the other. Of more, siblings and children wait aside until the last parent is known.
func (p *parter) receiver() {
	receiver, offsets, e, left := GP64(), pointer("offsets"), GP64(), GP64()
	p.fetchLists(p.i, offsets, p.senders, p.relations)
	MOVLQSX(Mem{Base: pointer("receivers"), Index: p.i, Scale: 4}, receiver)
	MOVQ(Mem{Base: offsets, Index: receiver, Scale: 8}, e)
	MOVQ(Mem{Base: offsets, Index: receiver, Scale: 8, Disp: 8}, left)
	SUBQ(e, left)
	several, end := p.label("several"), p.label("end")
	CMPQ(left, U8(16))
	JG(LabelRef(several))
	p.read(left)
	p.know(e)
	for kind := range kinds {
		if kind > 0 {
			MOVL(p.end.As32(), Mem{Base: p.bounds, Disp: 4 * kind})
		}
		p.put(kind, pointer("intoRows"), pointer("intoRelations"), p.end)
	}
	JMP(LabelRef(end))
	Label(several)
	p.several(e, left)
	Label(end)
}

// read sets the mask of the senders that are left, 16 at most.
func (p *parter) read(left reg.GPVirtual) {
	all := GP32()
	MOVL(U32(0xffff), all)
	BZHIL(left.As32(), all, all)
	KMOVW(all, reg.K1)
}

// several parts more than one vector of senders.
func (p *parter) several(e, left reg.GPVirtual) {
	siblings, children := GP64(), GP64()
	XORQ(siblings, siblings)
	XORQ(children, children)
	loop, rest, part, end := p.label("loop"), p.label("rest"), p.label("part"), p.label("end")
	all := GP32()
	Label(loop)
	CMPQ(left, U8(16))
	JL(LabelRef(rest))
	MOVL(U32(0xffff), all)
	KMOVW(all, reg.K1)
	Label(part)
	p.know(e)
	p.put(0, pointer("intoRows"), pointer("intoRelations"), p.end)
	p.put(1, pointer("siblingRows"), pointer("siblingRelations"), siblings)
	p.put(2, pointer("childRows"), pointer("childRelations"), children)
	ADDQ(U8(16), e)
	SUBQ(U8(16), left)
	JMP(LabelRef(loop))
	Label(rest)
	TESTQ(left, left)
	JLE(LabelRef(end))
	p.read(left)
	JMP(LabelRef(part))
	Label(end)
	MOVL(p.end.As32(), Mem{Base: p.bounds, Disp: 4})
	p.append("sibling", siblings)
	MOVL(p.end.As32(), Mem{Base: p.bounds, Disp: 8})
	p.append("child", children)
}

// append copies senders that waited to the end of the list. Mostly they are one vector, which is
// copied without asking whether there is any.
func (p *parter) append(what string, count reg.GPVirtual) {
	rows, relations := pointer(what+"Rows"), pointer(what+"Relations")
	intoRows, intoRelations := pointer("intoRows"), pointer("intoRelations")
	at, to := GP64(), GP64()
	XORQ(at, at)
	MOVQ(p.end, to)
	ADDQ(count, p.end)
	loop := p.label("copy")
	Label(loop)
	VMOVDQU32(Mem{Base: rows, Index: at, Scale: 4}, p.row)
	VMOVDQU32(p.row, Mem{Base: intoRows, Index: to, Scale: 4})
	VMOVDQU32(Mem{Base: relations, Index: at, Scale: 4}, p.row)
	VMOVDQU32(p.row, Mem{Base: intoRelations, Index: to, Scale: 4})
	ADDQ(U8(16), at)
	ADDQ(U8(16), to)
	CMPQ(at, count)
	JL(LabelRef(loop))
}

// know reads the senders from e on that K1 says, reaches those that are unreached, and sets the
// masks of kinds.
func (p *parter) know(e reg.GPVirtual) {
	read, gather, unreached := reg.K1, reg.K2, reg.K6
	KMOVW(read, gather)
	VMOVDQU32_Z(Mem{Base: p.senders, Index: e, Scale: 4}, read, p.sender)
	VMOVDQU32_Z(Mem{Base: p.relations, Index: e, Scale: 4}, read, p.relation)
	VPXORD(p.row, p.row, p.row) // or it waits for the gather before
	VPGATHERDD(Mem{Base: p.rows, Index: p.sender, Scale: 4}, gather, p.row)
	VPCMPEQD(p.wanted[3], p.row, read, unreached)
	VPCMPD(U8(1), p.wanted[0], p.row, read, kinds[0]) // less than
	VPCMPD(U8(1), p.wanted[1], p.row, read, kinds[1])
	VPCMPEQD(p.wanted[2], p.row, read, kinds[2])
	KANDNW(kinds[1], kinds[0], kinds[1])
	known := p.label("known")
	KORTESTW(unreached, unreached)
	JZ(LabelRef(known))
	p.reach(e, unreached)
	p.zero(p.front)
	VPCMPD(U8(5), p.front, p.wanted[2], unreached, unreached) // not where children are not admitted
	KORW(unreached, kinds[2], kinds[2])
	Label(known)
}

// put stores the senders of a kind at an end, and moves it: of parents the rows, of siblings
// those a table before, of children the entities.
func (p *parter) put(kind int, rows, relations, end reg.GPVirtual) {
	count := GP32()
	KMOVW(kinds[kind], count)
	POPCNTL(count, count)
	switch kind {
	case 0:
		VPCOMPRESSD_Z(p.row, kinds[kind], p.front)
	case 1:
		VPCOMPRESSD_Z(p.row, kinds[kind], p.front)
		VPSUBD(p.wanted[4], p.front, p.front)
	case 2:
		VPCOMPRESSD_Z(p.sender, kinds[kind], p.front)
	}
	VMOVDQU32(p.front, Mem{Base: rows, Index: end, Scale: 4})
	VPCOMPRESSD_Z(p.relation, kinds[kind], p.front)
	VMOVDQU32(p.front, Mem{Base: relations, Index: end, Scale: 4})
	ADDQ(count.As64(), end)
}

// reach makes senders from e on fresh, those of a mask.
func (p *parter) reach(e reg.GPVirtual, mask reg.OpmaskPhysical) {
	left, reached := GP32(), pointer("reached")
	KMOVW(mask, left)
	next := p.label("reach")
	Label(next)
	at, sender, word, bit := GP64(), GP64(), GP64(), GP64()
	TZCNTL(left, at.As32())
	ADDQ(e, at)
	MOVLQSX(Mem{Base: p.senders, Index: at, Scale: 4}, sender)
	MOVL(U32(fresh), Mem{Base: p.rows, Index: sender, Scale: 4})
	MOVL(U32(1), bit.As32())
	SHLXQ(sender, bit, bit)
	MOVQ(sender, word)
	SHRQ(U8(6), word)
	ORQ(bit, Mem{Base: reached, Index: word, Scale: 8})
	BLSRL(left, left)
	JNZ(LabelRef(next))
}

// fresh is kernel.Fresh.
const fresh = 1<<31 - 2

// fetchedLines are how many lines of a receiver's lists are fetched ahead, of 16 senders each:
// all of them for most receivers.
const fetchedLines = 3

// fetchLists fetches the lists of a receiver that comes later, and where those of a still
// later one begin: receivers stand in another order than their lists.
func (m *machine) fetchLists(i, offsets, senders, relations reg.GPVirtual) {
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
	for at := range fetchedLines {
		PREFETCHT0(Mem{Base: senders, Index: begin, Scale: 4, Disp: 64 * at})
		PREFETCHT0(Mem{Base: relations, Index: begin, Scale: 4, Disp: 64 * at})
	}
}
