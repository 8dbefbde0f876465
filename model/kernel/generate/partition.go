package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// partition writes the senders of each receiver to three lists, by their rows. A vector
// of 16 is read at once; each kind's are compressed to the front and stored whole, over
// what the next vector will write.
func (m *machine) partition() {
	name := "partition" + m.suffix
	TEXT(name, NOSPLIT, "func(count int, receivers *int32, offsets *int64, senders, relations *int32, rows *int32, reached *uint64, parents, siblings, children, unreached int32, bounds0, bounds1, bounds2, senders0, relations0, senders1, relations1, senders2, relations2 *int32, counts *int64)")
	Pragma("noescape")
	Doc(name + " is portable.Part, 16 senders at once.")
	p := &parter{machine: m, i: GP64(), senders: pointer("senders"), relations: pointer("relations"), rows: pointer("rows")}
	XORQ(p.i, p.i)
	counts := pointer("counts")
	for kind, what := range []string{"parents", "siblings", "children", "unreached"} {
		p.wanted[kind] = m.v(kind)
		VPBROADCASTD(Load(Param(what), GP32()), p.wanted[kind])
		if kind < len(p.ends) {
			p.ends[kind] = GP64()
			MOVQ(Mem{Base: counts, Disp: 8 * kind}, p.ends[kind])
		}
	}
	p.sender, p.row, p.relation, p.front = m.v(4), m.v(5), m.v(6), m.v(7)

	next, done := m.label("receiver"), m.label("done")
	Label(next)
	CMPQ(p.i, Load(Param("count"), GP64()))
	JGE(LabelRef(done))
	p.receiver()
	INCQ(p.i)
	JMP(LabelRef(next))
	Label(done)
	counts = pointer("counts")
	for kind, end := range p.ends {
		MOVQ(end, Mem{Base: counts, Disp: 8 * kind})
	}
	VZEROUPPER()
	RET()
}

// parter is what parting a receiver's senders needs.
type parter struct {
	*machine
	i                        reg.GPVirtual // the receiver's place
	senders, relations, rows reg.GPVirtual
	ends                     [3]reg.GPVirtual   // how many senders each kind has
	wanted                   [4]reg.VecPhysical // what the rows are compared with

	sender, row, relation, front reg.VecPhysical
}

// receiver parts the senders of one.
func (p *parter) receiver() {
	receiver, offsets, e, left := GP64(), pointer("offsets"), GP64(), GP64()
	p.fetchLists(p.i, offsets, p.senders, p.relations)
	MOVLQSX(Mem{Base: pointer("receivers"), Index: p.i, Scale: 4}, receiver)
	MOVQ(Mem{Base: offsets, Index: receiver, Scale: 8}, e)
	MOVQ(Mem{Base: offsets, Index: receiver, Scale: 8, Disp: 8}, left)
	SUBQ(e, left)
	p.bound(0)
	loop, rest, part, end := p.label("loop"), p.label("rest"), p.label("part"), p.label("end")
	all := GP32()
	Label(loop)
	CMPQ(left, U8(16))
	JL(LabelRef(rest))
	MOVL(U32(0xffff), all)
	Label(part)
	KMOVW(all, reg.K1)
	p.vector(e)
	ADDQ(U8(16), e)
	SUBQ(U8(16), left)
	JMP(LabelRef(loop))
	Label(rest)
	TESTQ(left, left)
	JLE(LabelRef(end))
	MOVL(U32(0xffff), all)
	BZHIL(left.As32(), all, all)
	JMP(LabelRef(part))
	Label(end)
	p.bound(4)
}

// bound notes where the lists end now, as the receiver's begin (0) or end (4).
func (p *parter) bound(at int) {
	for kind, end := range p.ends {
		MOVL(end.As32(), Mem{Base: pointer(fmt.Sprintf("bounds%d", kind)), Index: p.i, Scale: 8, Disp: at})
	}
}

// vector parts the senders from e on that K1 says.
func (p *parter) vector(e reg.GPVirtual) {
	read, gather, unreached, kinds := reg.K1, reg.K2, reg.K6, []reg.OpmaskPhysical{reg.K3, reg.K4, reg.K5}
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
	for kind, k := range kinds {
		moved := GP32()
		KMOVW(k, moved)
		POPCNTL(moved, moved)
		sender := p.row
		if kind == 2 {
			sender = p.sender
		}
		VPCOMPRESSD_Z(sender, k, p.front)
		VMOVDQU32(p.front, Mem{Base: pointer(fmt.Sprintf("senders%d", kind)), Index: p.ends[kind], Scale: 4})
		VPCOMPRESSD_Z(p.relation, k, p.front)
		VMOVDQU32(p.front, Mem{Base: pointer(fmt.Sprintf("relations%d", kind)), Index: p.ends[kind], Scale: 4})
		ADDQ(moved.As64(), p.ends[kind])
	}
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
	PREFETCHT0(Mem{Base: senders, Index: begin, Scale: 4})
	PREFETCHT0(Mem{Base: relations, Index: begin, Scale: 4})
}
