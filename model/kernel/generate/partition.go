package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// partition writes the senders of each receiver to three lists, by their positions. A vector
// of 16 is read at once; each kind's are compressed to the front and stored whole, over
// what the next vector will write.
func (m *machine) partition() {
	name := "partition" + m.suffix
	TEXT(name, NOSPLIT, "func(count int, receivers *int32, offsets *int64, senders, relations, positions *int32, threshold0, threshold1, threshold2 int32, bounds0, bounds1, bounds2, senders0, relations0, senders1, relations1, senders2, relations2 *int32, counts *int64)")
	Pragma("noescape")
	Doc(name + " is portable.Part, 16 senders at once.")
	i, senders, relations, positions := GP64(), pointer("senders"), pointer("relations"), pointer("positions")
	XORQ(i, i)
	var thresholds []reg.VecPhysical
	var ends []reg.GPVirtual
	counts := pointer("counts")
	for kind := range 3 {
		threshold := m.v(kind)
		VPBROADCASTD(Load(Param(fmt.Sprintf("threshold%d", kind)), GP32()), threshold)
		thresholds = append(thresholds, threshold)
		end := GP64()
		MOVQ(Mem{Base: counts, Disp: 8 * kind}, end)
		ends = append(ends, end)
	}
	sender, position, relation, front := m.v(3), m.v(4), m.v(5), m.v(6)
	read, gather := reg.K1, reg.K2
	kinds := []reg.OpmaskPhysical{reg.K3, reg.K4, reg.K5}

	next, done := m.label("receiver"), m.label("done")
	Label(next)
	CMPQ(i, Load(Param("count"), GP64()))
	JGE(LabelRef(done))
	receiver, offsets, e, left := GP64(), pointer("offsets"), GP64(), GP64()
	m.fetchLists(i, offsets, senders, relations)
	MOVLQSX(Mem{Base: pointer("receivers"), Index: i, Scale: 4}, receiver)
	MOVQ(Mem{Base: offsets, Index: receiver, Scale: 8}, e)
	MOVQ(Mem{Base: offsets, Index: receiver, Scale: 8, Disp: 8}, left)
	SUBQ(e, left)
	loop, rest, part, bounds := m.label("loop"), m.label("rest"), m.label("part"), m.label("bounds")
	all := GP32()
	Label(loop)
	CMPQ(left, U8(16))
	JL(LabelRef(rest))
	MOVL(U32(0xffff), all)
	Label(part)
	KMOVW(all, read)
	KMOVW(all, gather)
	VMOVDQU32_Z(Mem{Base: senders, Index: e, Scale: 4}, read, sender)
	VMOVDQU32_Z(Mem{Base: relations, Index: e, Scale: 4}, read, relation)
	VPXORD(position, position, position) // or it waits for the gather before
	VPGATHERDD(Mem{Base: positions, Index: sender, Scale: 4}, gather, position)
	for kind, threshold := range thresholds {
		VPCMPD(U8(1), threshold, position, read, kinds[kind]) // less than
	}
	KANDNW(kinds[2], kinds[1], kinds[2])
	KANDNW(kinds[1], kinds[0], kinds[1])
	for kind, k := range kinds {
		moved := GP32()
		KMOVW(k, moved)
		POPCNTL(moved, moved)
		VPCOMPRESSD_Z(position, k, front)
		VMOVDQU32(front, Mem{Base: pointer(fmt.Sprintf("senders%d", kind)), Index: ends[kind], Scale: 4})
		VPCOMPRESSD_Z(relation, k, front)
		VMOVDQU32(front, Mem{Base: pointer(fmt.Sprintf("relations%d", kind)), Index: ends[kind], Scale: 4})
		ADDQ(moved.As64(), ends[kind])
	}
	ADDQ(U8(16), e)
	SUBQ(U8(16), left)
	JMP(LabelRef(loop))
	Label(rest)
	TESTQ(left, left)
	JLE(LabelRef(bounds))
	MOVL(U32(0xffff), all)
	BZHIL(left.As32(), all, all)
	JMP(LabelRef(part))
	Label(bounds)
	for kind, end := range ends {
		MOVL(end.As32(), Mem{Base: pointer(fmt.Sprintf("bounds%d", kind)), Index: i, Scale: 4})
	}
	INCQ(i)
	JMP(LabelRef(next))
	Label(done)
	counts = pointer("counts")
	for kind, end := range ends {
		MOVQ(end, Mem{Base: counts, Disp: 8 * kind})
	}
	VZEROUPPER()
	RET()
}

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
