package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gatherer serves both directions of the aggregation, with the loops over receivers and over
// one receiver's senders.
type gatherer struct {
	*machine
	columns, vectors int
	stride           reg.GPVirtual // bytes of a row of states
	i                reg.GPVirtual // the receiver's index
	row              reg.GPVirtual // its row in the tables
	states           reg.GPVirtual // the row that sender rows are relative to
	embeddings       reg.GPVirtual
	prefetched       []reg.GPVirtual // tables whose rows of senders are prefetched
}

// newGatherer returns a gatherer for a stripe of columns of every row.
func (m *machine) newGatherer(columns int) *gatherer {
	return &gatherer{machine: m, columns: columns, vectors: columns / m.floats()}
}

func (g *gatherer) start() {
	g.stride, g.states, g.embeddings = pointer("stride"), pointer("states"), pointer("embeddings")
	g.prefetched = []reg.GPVirtual{g.states}
	g.i, g.row = GP64(), GP64()
	XORQ(g.i, g.i)
}

// featureRow returns a pointer to the receiver's row of a parameter, whose rows are a number of strides long.
func (g *gatherer) featureRow(name string, stride reg.GPVirtual, strides uint8) reg.GPVirtual {
	base, at := pointer(name), GP64()
	MOVLQSX(Mem{Base: pointer("featureRows"), Index: g.i, Scale: 4}, at)
	IMULQ(stride, at)
	IMUL3Q(U8(strides), at, at)
	ADDQ(at, base)
	return base
}

// tableRow moves base to the receiver's row in a table of stride bytes a row.
func (g *gatherer) tableRow(base, stride reg.GPVirtual) {
	offset := GP64()
	MOVQ(g.row, offset)
	IMULQ(stride, offset)
	ADDQ(offset, base)
}

// broadcast fills v with the receiver's entry of a parameter.
func (g *gatherer) broadcast(name string, v reg.VecPhysical) {
	VBROADCASTSS(Mem{Base: pointer(name), Index: g.row, Scale: 4}, v)
}

// eachSender is the loop over the senders that a receiver hears; each gets the offsets of the
// sender's and the relation's row.
func (g *gatherer) eachSender(each func(sender, relation reg.GPVirtual)) {
	none, loop := g.label("none"), g.label("loop")
	at, e, end := GP64(), GP64(), GP64()
	LEAQ(Mem{Base: g.row, Index: g.row, Scale: 2}, at)
	MOVLQSX(Mem{Base: pointer("begins"), Index: at, Scale: 4}, e)
	MOVLQSX(Mem{Base: pointer("ends"), Index: at, Scale: 4}, end)
	CMPQ(e, end)
	JGE(LabelRef(none))
	senders, relations, last := pointer("senders"), pointer("relations"), pointer("last")
	Label(loop)
	g.prefetch(senders, e, last)
	sender, relation := GP64(), GP64()
	MOVLQSX(Mem{Base: senders, Index: e, Scale: 4}, sender)
	MOVLQSX(Mem{Base: relations, Index: e, Scale: 4}, relation)
	IMULQ(g.stride, sender)
	IMULQ(g.stride, relation)
	each(sender, relation)
	INCQ(e)
	CMPQ(e, end)
	JL(LabelRef(loop))
	Label(none)
}

// ahead is the distance in senders at which a sender's rows are prefetched, of its state and in the
// backward pass of its gradient too. It reaches into the lists of later receivers: where the loop
// over one receiver's senders ends, the processor mispredicts and would load theirs late.
const ahead = 16

// farAhead is the distance at which such a row is prefetched into the second-level cache: the first
// level cannot wait for all lines from the third. Every other cache line is enough, as the
// adjacent one is loaded with it.
const farAhead = 48

// prefetch prefetches the rows of later senders, at most the last of all.
func (g *gatherer) prefetch(senders, e, last reg.GPVirtual) {
	offset := g.offsetAhead(ahead, senders, e, last)
	for _, table := range g.prefetched {
		for at := 0; at < 4*g.columns; at += 64 {
			PREFETCHT0(Mem{Base: table, Index: offset, Scale: 1, Disp: at})
		}
	}
	offset = g.offsetAhead(farAhead, senders, e, last)
	for _, table := range g.prefetched {
		for at := 0; at < 4*g.columns; at += 128 {
			PREFETCHT1(Mem{Base: table, Index: offset, Scale: 1, Disp: at})
		}
	}
}

// offsetAhead returns the offset of the row of the sender at a distance, or of the last sender.
func (g *gatherer) offsetAhead(ahead int, senders, e, last reg.GPVirtual) reg.GPVirtual {
	offset := later(e, ahead, last)
	MOVLQSX(Mem{Base: senders, Index: offset, Scale: 4}, offset)
	IMULQ(g.stride, offset)
	return offset
}

// withCopies emits code that runs only for receivers with degree messages, with their number in v.
func (g *gatherer) withCopies(v, zero reg.VecPhysical, then func(degree reg.GPVirtual)) {
	none := g.label("none")
	copies := pointer("copies")
	TESTQ(copies, copies)
	JZ(LabelRef(none))
	g.zero(zero)
	VBROADCASTSS(Mem{Base: copies, Index: g.row, Scale: 4}, v)
	VUCOMISS(zero.AsX(), v.AsX())
	JLS(LabelRef(none))
	then(pointer("degree"))
	Label(none)
}

// eachReceiver is the loop over receivers.
func (g *gatherer) eachReceiver(body func()) {
	next, end := g.label("receiver"), g.label("end")
	Label(next)
	count := Load(Param("count"), GP64())
	CMPQ(g.i, count)
	JGE(LabelRef(end))
	MOVLQSX(Mem{Base: pointer("rows"), Index: g.i, Scale: 4}, g.row)
	body()
	INCQ(g.i)
	JMP(LabelRef(next))
	Label(end)
	VZEROUPPER()
	RET()
}

// aggregate writes the reduction to mean, max, min and deviation of products, over a stripe of columns.
func (m *machine) aggregate(columns int) {
	m.function(fmt.Sprintf("aggregate%d", columns),
		"func(count int, rows, featureRows, begins, ends, senders, relations *int32, last int, states, embeddings, previous *float32, previousStride int, "+
			"initial, second, degree, copies, meanFactor, features *float32, stride int)",
		fmt.Sprintf("is portable.Aggregate for DistMult and PNA, over %d columns.", columns))
	g := m.newGatherer(columns)
	g.start()
	n := g.vectors
	sum, squares, high, low := m.registers(0, n), m.registers(n, n), m.registers(2*n, n), m.registers(3*n, n)
	x, other := m.v(4*n), m.v(4*n+1)
	g.eachReceiver(func() {
		g.startSet(sum, squares, high, low)
		// The degree message counts as often as its number of copies.
		g.withCopies(other, x, func(degree reg.GPVirtual) {
			for j := range n {
				VMOVUPS(g.at(degree, j), x)
				VMAXPS(high[j], x, high[j])
				VMINPS(low[j], x, low[j])
				VFMADD231PS(x, other, sum[j])
				VMULPS(x, x, x)
				VFMADD231PS(x, other, squares[j])
			}
		})
		g.eachSender(func(sender, relation reg.GPVirtual) {
			for j := range n {
				x := []reg.VecPhysical{x, other}[j%2]
				VMOVUPS(g.indexed(g.states, sender, j), x)
				VMULPS(g.indexed(g.embeddings, relation, j), x, x)
				VADDPS(x, sum[j], sum[j])
				// Where either is NaN these give their first operand, the old value.
				VMAXPS(high[j], x, high[j])
				VMINPS(low[j], x, low[j])
				VFMADD231PS(x, x, squares[j])
			}
		})
		g.finish(sum, squares, high, low, x, other)
	})
}

// startSet starts with the set that holds the boundary and, for maximum and minimum, a second row.
func (g *gatherer) startSet(sum, squares, high, low []reg.VecPhysical) {
	initial, second := pointer("initial"), pointer("second")
	for j := range g.vectors {
		VMOVUPS(g.at(initial, j), sum[j])
		VMULPS(sum[j], sum[j], squares[j])
		VMAXPS(g.at(second, j), sum[j], high[j])
		VMINPS(g.at(second, j), sum[j], low[j])
	}
}

// finish writes a row of features.
func (g *gatherer) finish(sum, squares, high, low []reg.VecPhysical, meanFactor, x reg.VecPhysical) {
	n := g.vectors
	// Sums of squares are NaN where a member is, and nowhere else.
	for j := range n {
		g.replaceWhereNaN(squares[j], high[j], low[j], x)
	}
	stride, previous := g.stride, pointer("previous")
	row := g.featureRow("features", stride, 5)
	g.tableRow(previous, pointer("previousStride"))
	for j := range n {
		VMOVUPS(g.at(previous, j), x)
		VMOVUPS(x, g.at(row, j))
	}
	g.broadcast("meanFactor", meanFactor)
	ADDQ(stride, row)
	for j := range n {
		VMULPS(meanFactor, sum[j], sum[j])
		VMOVUPS(sum[j], g.at(row, j))
		VMULPS(meanFactor, squares[j], squares[j])
	}
	ADDQ(stride, row)
	for j := range n {
		VMOVUPS(high[j], g.at(row, j))
	}
	ADDQ(stride, row)
	for j := range n {
		VMOVUPS(low[j], g.at(row, j))
	}
	ADDQ(stride, row)
	g.constant(smallestVariance, x)
	for j := range n {
		VFNMADD231PS(sum[j], sum[j], squares[j])
		VMAXPS(squares[j], x, squares[j]) // a NaN stays
		VSQRTPS(squares[j], squares[j])
		VMOVUPS(squares[j], g.at(row, j))
	}
}

// replaceWhereNaN puts v's NaNs into a and b.
func (g *gatherer) replaceWhereNaN(v, a, b, scratch reg.VecPhysical) {
	if g.wide {
		VCMPPS(U8(unordered), v, v, mask)
		VMOVAPS(v, mask, a)
		VMOVAPS(v, mask, b)
		return
	}
	VCMPPS(U8(unordered), v, v, scratch)
	VBLENDVPS(scratch, v, a, a)
	VBLENDVPS(scratch, v, b, b)
}
