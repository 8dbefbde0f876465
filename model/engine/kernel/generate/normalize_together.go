package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// together normalizes several rows in registers at once. Normalizing a
// row is a long chain of few instructions, mostly sums across a register; several chains run in
// parallel, and share the sums, the root and the quotient. Sums are added in the order of total, so
// a row's bits do not depend on its neighbors.
//
// The last group repeats the last row to make up its number: all rows are read before the first is
// written, so a repeated row gives the same output.
type together struct {
	*normalizer
	rows    [][]reg.VecPhysical
	spare   [2]reg.VecPhysical
	epsilon reg.VecPhysical
	one     reg.VecPhysical
	last    reg.GPVirtual // the index of the last row
	results Mem           // the rows' totals, then their inverse deviations
}

// newTogether assigns the registers and fills those that stay constant.
func (n *normalizer) newTogether() *together {
	g := &together{normalizer: n, epsilon: n.v(24), one: n.v(25), results: AllocLocal(64)}
	g.spare = [2]reg.VecPhysical{n.v(23), n.sum}
	for first := 0; first < held; first += n.vectors {
		g.rows = append(g.rows, n.registers(first, n.vectors))
	}
	n.constant(normalizeEpsilon, g.epsilon)
	n.constant(constantOne, g.one)
	if n.vectors == 2 {
		next := 26
		for _, row := range [][]Op{n.bias, n.scale, n.shift} {
			for j := range row {
				VMOVUPS(row[j], n.v(next))
				row[j] = n.v(next)
				next++
			}
		}
	}
	g.last = n.lastRow()
	return g
}

// together normalizes all rows.
func (n *normalizer) together() {
	g := n.newTogether()
	n.eachGroup(len(g.rows), g.normalize)
}

// normalize normalizes several rows at once, so that their square roots and divisions overlap.
func (g *together) normalize() {
	g.each(func(r int) {
		linear := g.linearAddress()
		for j, v := range g.rows[r] {
			VMOVUPS(linear(j), v)
			VADDPS(g.bias[j], v, v)
		}
	})
	g.scale()
	g.each(func(r int) {
		for _, v := range g.rows[r] {
			VMULPS_BCST(g.of(r), v, v)
		}
		if g.training {
			g.aimTraining()
			inverse := GP32()
			MOVL(g.of(r), inverse)
			MOVL(inverse, Mem{Base: g.deviation})
		}
		g.finish(g.rows[r], g.linearAddress())
	})
}

// scale centers the rows and leaves the factors that normalize them in results.
func (g *together) scale() {
	sum := g.totals(func(row []reg.VecPhysical, sum reg.VecPhysical) {
		VADDPS(row[1], row[0], sum)
		for _, v := range row[2:] {
			VADDPS(v, sum, sum)
		}
	})
	VMULPS(g.oneOfDim, sum, sum)
	VMOVUPS(sum, g.results)
	for r, row := range g.rows {
		for _, v := range row {
			VSUBPS_BCST(g.of(r), v, v)
		}
	}
	product := g.totals(func(row []reg.VecPhysical, product reg.VecPhysical) {
		VMULPS(row[0], row[0], product)
		for _, v := range row[1:] {
			VFMADD231PS(v, v, product)
		}
	})
	VFMADD213PS(g.epsilon, g.oneOfDim, product)
	VSQRTPS(product, product)
	VDIVPS(product, g.one, product)
	VMOVUPS(product, g.results)
}

// each calls body for the rows in registers, after setting their rows in memory.
func (g *together) each(body func(r int)) {
	for r := range g.rows {
		g.setRows(r)
		body(r)
	}
}

// setRows sets the rows in memory of the row at the current index plus after. It returns its index.
func (g *together) setRows(after int) (i reg.GPVirtual) {
	i = later(g.i, after, g.last)
	g.readRows(i)
	return i
}

// totals adds up, for each row, the numbers of the vector that terms leaves in a register. It returns
// a vector of all totals, in the order of of.
func (g *together) totals(terms func(row []reg.VecPhysical, out reg.VecPhysical)) reg.VecPhysical {
	// Four rows make a vector, a row in each quarter.
	a, b, spare := g.x, g.scratch, g.spare[1]
	halves := func(rows [][]reg.VecPhysical, out reg.VecPhysical) {
		terms(rows[0], out)
		terms(rows[1], g.spare[0])
		g.addQuarters(0x44, 0xee, g.spare[0], out, spare)
	}
	quarters := func(rows [][]reg.VecPhysical, a, b reg.VecPhysical) {
		halves(rows[:2], a)
		halves(rows[2:4], b)
		g.addQuarters(0x88, 0xdd, b, a, spare)
	}
	quarters(g.rows, a, b)
	if len(g.rows) == 4 {
		VPERMILPS(U8(0x4e), a, spare)
		VADDPS(spare, a, a)
	} else {
		quarters(g.rows[4:], b, g.product)
		VSHUFPS(U8(0xee), b, a, spare)
		VSHUFPS(U8(0x44), b, a, a)
		VADDPS(spare, a, a)
	}
	VPERMILPS(U8(0xb1), a, spare)
	VADDPS(spare, a, a)
	return a
}

// addQuarters adds the quarters of a and b that two patterns select, and leaves them in a.
func (g *together) addQuarters(first, second uint64, b, a, spare reg.VecPhysical) {
	VSHUFF64X2(U8(second), b, a, spare)
	VSHUFF64X2(U8(first), b, a, a)
	VADDPS(spare, a, a)
}

// of returns the address of row r's result.
func (g *together) of(r int) Mem {
	number := 4 * (r % 4)
	if len(g.rows) > 4 {
		number += 2 * (r / 4)
	}
	return g.results.Offset(4 * number)
}
