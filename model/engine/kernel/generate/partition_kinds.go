package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// opmasks classifies with AVX-512's mask registers and compresses by them.
type opmasks struct {
	*partitioner
	chosen reg.OpmaskPhysical
}

// kinds are the masks of the parents, siblings and children in a vector of senders.
var kinds = [3]reg.OpmaskPhysical{reg.K3, reg.K4, reg.K5}

func (p *opmasks) some(left reg.GPVirtual) {
	bits := GP32()
	MOVL(U32(0xffff), bits)
	BZHIL(left.As32(), bits, bits)
	KMOVW(bits, reg.K1)
}

func (p *opmasks) all() {
	bits := GP32()
	MOVL(U32(0xffff), bits)
	KMOVW(bits, reg.K1)
}

// classify reads senders from e on, and sets the opmasks of parents, siblings and children. A sender without a row is
// reached now, as a child.
func (p *opmasks) classify(e reg.GPVirtual) {
	read, gather, unreached := reg.K1, reg.K2, reg.K6
	KMOVW(read, gather)
	VMOVDQU32_Z(Mem{Base: p.senders, Index: e, Scale: 4}, read, p.sender)
	VMOVDQU32_Z(Mem{Base: p.relations, Index: e, Scale: 4}, read, p.relation)
	VPXORD(p.row, p.row, p.row) // avoids a dependence on the previous gather
	VPGATHERDD(Mem{Base: p.rows, Index: p.sender, Scale: 4}, gather, p.row)
	VPCMPEQD(p.limits[3], p.row, read, unreached)
	VPCMPD(U8(1), p.limits[0], p.row, read, kinds[0]) // less than
	VPCMPD(U8(1), p.limits[1], p.row, read, kinds[1])
	VPCMPEQD(p.limits[2], p.row, read, kinds[2])
	KANDNW(kinds[1], kinds[0], kinds[1])
	known := p.label("known")
	KORTESTW(unreached, unreached)
	JZ(LabelRef(known))
	left := GP32()
	KMOVW(unreached, left)
	p.zero(p.front)
	VPCMPD(U8(5), p.front, p.limits[2], unreached, unreached) // not where children are not listed
	KORW(unreached, kinds[2], kinds[2])
	p.reach(e, left)
	Label(known)
}

func (p *opmasks) choose(kind int) reg.GPVirtual {
	p.chosen = kinds[kind]
	count := GP64()
	KMOVW(p.chosen, count.As32())
	POPCNTL(count.As32(), count.As32())
	return count
}

func (p *opmasks) compress(from, front reg.VecPhysical) { VPCOMPRESSD_Z(from, p.chosen, front) }

// bytemasks classifies with vectors that have all ones where a sender is of a kind, and compresses by
// a permutation that it looks up for each byte of such bits.
type bytemasks struct {
	*partitioner
	kinds   [3]reg.VecPhysical
	read    reg.VecPhysical // all ones where there is a sender
	gather  reg.VecPhysical // the same, then all ones where a sender is unreached
	order   reg.VecPhysical
	indices *Mem
}

func (p *bytemasks) some(left reg.GPVirtual) {
	bits := GP32()
	MOVL(U32(0xff), bits)
	BZHIL(left.As32(), bits, bits)
	p.expand(bits, p.read)
}

func (p *bytemasks) all() { VPCMPEQD(p.read, p.read, p.read) }

// classify reads senders from e on, and sets the vectors of parents, siblings and children. A sender without a row is
// reached now, as a child.
func (p *bytemasks) classify(e reg.GPVirtual) {
	VPMASKMOVD(Mem{Base: p.senders, Index: e, Scale: 4}, p.read, p.sender)
	VPMASKMOVD(Mem{Base: pointer("relations"), Index: e, Scale: 4}, p.read, p.relation)
	VMOVDQA(p.read, p.gather)
	p.zero(p.row) // avoids a dependence on the previous gather
	VPGATHERDD(p.gather, Mem{Base: p.rows, Index: p.sender, Scale: 4}, p.row)
	parents, siblings, children, unreached := p.kinds[0], p.kinds[1], p.kinds[2], p.gather
	VPCMPGTD(p.row, p.limits[0], parents) // less than
	VPCMPGTD(p.row, p.limits[1], siblings)
	VPCMPEQD(p.row, p.limits[2], children)
	VPCMPEQD(p.row, p.limits[3], unreached)
	VPANDN(siblings, parents, siblings)
	for _, v := range []reg.VecPhysical{parents, siblings, children, unreached} {
		VPAND(p.read, v, v)
	}
	known, left := p.label("known"), GP32()
	VMOVMSKPS(unreached, left)
	TESTL(left, left)
	JZ(LabelRef(known))
	VPANDN(unreached, p.limits[2], unreached) // their signs: not where the children's limit is negative, since children are not listed
	VPOR(unreached, children, children)
	p.reach(e, left)
	Label(known)
}

// choose sets order to the positions of a kind's senders, the lanes to compress, and returns their number.
func (p *bytemasks) choose(kind int) reg.GPVirtual {
	table, count := GP64(), GP64()
	VMOVMSKPS(p.kinds[kind], count.As32())
	LEAQ(p.table(), table)
	VPMOVZXBD(Mem{Base: table, Index: count, Scale: 8}, p.order)
	POPCNTL(count.As32(), count.As32())
	return count
}

func (p *bytemasks) compress(from, front reg.VecPhysical) { VPERMD(from, p.order, front) }

// table has, for every byte, the indices of its set bits, ascending, and zeros after them.
func (p *bytemasks) table() Mem {
	if p.indices == nil {
		table := GLOBL("indices", attr.RODATA|attr.NOPTR)
		for mask := range 256 {
			var indices uint64
			for bit, shift := 0, 0; bit < 8; bit++ {
				if mask>>bit&1 == 1 {
					indices |= uint64(bit) << shift
					shift += 8
				}
			}
			DATA(8*mask, U64(indices))
		}
		p.indices = &table
	}
	return *p.indices
}
