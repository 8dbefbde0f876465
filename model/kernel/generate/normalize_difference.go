package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sharedAhead is the distance in rows at which shared rows are prefetched: they lie far apart.
const sharedAhead = 12

// difference normalizes a shared row and its sum with a row of linear, and writes the difference of their activations.
type difference struct{ *normalizer }

// normalizeDifference writes the update of a state that is known as a difference to a shared one.
func (m *machine) normalizeDifference(dim int) {
	m.function(fmt.Sprintf("normalizeDifference%d", dim), "func(count int, rows, linearRows, sharedRows *int32, linear, shared, bias, scale, shift, residual *float32, residualMask int, output *float32)",
		fmt.Sprintf("is portable.NormalizeDifference for rows of %d.", dim))
	d := &difference{&normalizer{updater: m.newUpdater(dim), ending: ending{lanes: 1}}}
	d.start()
	d.bias = d.vectorsOf("bias")
	d.linears[0] = pointer("linear")
	if d.wide {
		d.pairs()
		return
	}
	last := d.lastRow()
	d.eachRow(func() {
		shared := d.vectorsAt(d.sharedRow(d.i))
		d.prefetch(d.i, last)
		d.normalizeRow(shared, nil)
		_, output := d.tableAddresses(0)
		for j, v := range d.values {
			d.activate(v, j, d.x)
			VMOVUPS(d.x, output(j))
		}
		d.normalizeRow(shared, d.linearAddress(0))
		residual, output := d.tableAddresses(0)
		for j, v := range d.values {
			d.activate(v, j, d.x)
			VADDPS(residual(j), d.x, d.x)
			VSUBPS(output(j), d.x, d.x)
			VMOVUPS(d.x, output(j))
		}
	})
}

// sharedRow returns the address of the shared row of the row with an index.
func (d *difference) sharedRow(i reg.GPVirtual) reg.GPVirtual {
	row := GP64()
	MOVLQSX(Mem{Base: pointer("sharedRows"), Index: i, Scale: 4}, row)
	return d.rowOf("shared", row)
}

// vectorsAt returns the addresses of the vectors at base.
func (d *difference) vectorsAt(base reg.GPVirtual) address {
	return func(j int) Mem { return d.machine.at(base, j) }
}

// prefetch prefetches the shared row of a later row, at most the last.
func (d *difference) prefetch(i, last reg.GPVirtual) {
	at := d.sharedRow(later(i, sharedAhead, last))
	for offset := 0; offset < 4*d.dim; offset += 64 {
		PREFETCHT0(Mem{Base: at, Disp: offset})
	}
}

// pairs normalizes several rows at once, as together does: each takes the registers of two, its shared row's and that of the sum.
func (d *difference) pairs() {
	g := d.newTogether()
	d.eachGroup(len(g.rows)/2, func() { d.pair(g) })
}

// pair normalizes a group of rows.
func (d *difference) pair(g *together) {
	d.eachPair(g, func(r int, i reg.GPVirtual) {
		d.prefetch(i, g.last)
		shared, linear := d.vectorsAt(d.sharedRow(i)), d.linearAddress(0)
		for j, v := range g.rows[r] {
			VMOVUPS(shared(j), v)
			VADDPS(d.bias[j], v, v)
			VADDPS(linear(j), v, g.rows[r+1][j])
		}
	})
	g.scale()
	d.eachPair(g, func(r int, _ reg.GPVirtual) {
		residual, output := d.tableAddresses(0)
		for j := range d.vectors {
			base, sum := g.rows[r][j], g.rows[r+1][j]
			VMULPS_BCST(g.of(r), base, base)
			VMULPS_BCST(g.of(r+1), sum, sum)
			d.activate(base, j, d.x)
			d.activate(sum, j, d.scratch)
			VADDPS(residual(j), d.scratch, d.scratch)
			VSUBPS(d.x, d.scratch, d.scratch)
			VMOVUPS(d.scratch, output(j))
		}
	})
}

// eachPair calls body for the rows whose pairs are in registers, after setting their rows in memory.
func (d *difference) eachPair(g *together, body func(r int, i reg.GPVirtual)) {
	for r := 0; r < len(g.rows); r += 2 {
		i := g.setRows(r / 2)
		body(r, i)
	}
}
