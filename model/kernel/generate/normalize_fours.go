package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fours are four rows in registers at once. Normalizing a row is a long chain of few
// instructions, mostly sums across a register; four chains fill the time of one, and share
// the root and the quotient. Sums are added up in the order of total: a row's bits do not
// depend on its neighbours.
type fours struct {
	*updater
	rows  [4][]reg.VecPhysical
	sums  []reg.VecPhysical // a register for each row
	place []reg.VecPhysical // for each row, its number in every lane
	spare reg.VecPhysical
}

// normalizeFours normalizes rows as long as there are four.
func (u *updater) normalizeFours() {
	f := &fours{updater: u, sums: u.run(4*u.vectors, 4), place: u.run(4*u.vectors+4, 4), spare: u.v(4*u.vectors + 8)}
	for r := range f.rows {
		f.rows[r] = u.run(r*u.vectors, u.vectors)
		number := GP32()
		MOVL(U32(r), number)
		VPBROADCASTD(number, f.place[r])
	}
	next, rest, left := u.label("four"), u.label("rest"), GP64()
	Label(next)
	MOVQ(u.count, left)
	SUBQ(u.i, left)
	CMPQ(left, U8(4))
	JL(LabelRef(rest))
	f.normalize()
	ADDQ(U8(4), u.i)
	JMP(LabelRef(next))
	Label(rest)
}

func (f *fours) normalize() {
	for r, row := range f.rows {
		f.aim(r)
		for j, v := range row {
			VMOVUPS(f.part(f.linear, j), v)
			VADDPS(f.part(f.bias, j), v, v)
			f.add(v, f.sums[r], j == 0, func() { VADDPS(v, f.sums[r], f.sums[r]) })
		}
	}
	f.totals(f.x)
	VMULPS(f.oneOfDim, f.x, f.x)
	for r, row := range f.rows {
		VPERMPS(f.x, f.place[r], f.scratch)
		for j, v := range row {
			VSUBPS(f.scratch, v, v)
			if j == 0 {
				VMULPS(v, v, f.sums[r])
			} else {
				VFMADD231PS(v, v, f.sums[r])
			}
		}
	}
	f.totals(f.product)
	f.constant(normalizeEpsilon, f.scratch)
	VFMADD231PS(f.oneOfDim, f.product, f.scratch)
	inverse := f.scratch.AsX()
	VSQRTPS(inverse, inverse)
	f.constant(constantOne, f.sum)
	VDIVPS(inverse, f.sum.AsX(), inverse)
	for r, row := range f.rows {
		VPERMPS(f.scratch, f.place[r], f.product)
		for _, v := range row {
			VMULPS(f.product, v, v)
		}
		f.aim(r)
		VEXTRACTPS(U8(r), inverse, Mem{Base: f.deviation})
		f.finish(row)
	}
}

// add begins a sum with v, or goes on with it.
func (f *fours) add(v, sum reg.VecPhysical, first bool, goOn func()) {
	if first {
		VMOVAPS(v, sum)
		return
	}
	goOn()
}

// totals adds up the numbers of each row's sum, and leaves the four totals in out.
func (f *fours) totals(out reg.VecPhysical) {
	for _, sum := range f.sums {
		VEXTRACTF64X4(U8(1), sum, f.spare.AsY())
		VADDPS(f.spare.AsY(), sum.AsY(), sum.AsY())
		f.upperHalf(sum, f.spare)
		VADDPS(f.spare.AsX(), sum.AsX(), sum.AsX())
	}
	a, b, c, d, spare := f.sums[0].AsX(), f.sums[1].AsX(), f.sums[2].AsX(), f.sums[3].AsX(), f.spare.AsX()
	pair := func(a, b reg.Register) {
		VUNPCKHPS(b, a, spare)
		VUNPCKLPS(b, a, a)
		VADDPS(spare, a, a) // a0+a2, b0+b2, a1+a3, b1+b3
	}
	pair(a, b)
	pair(c, d)
	VSHUFPS(U8(0x44), c, a, spare)
	VSHUFPS(U8(0xee), c, a, a)
	VADDPS(spare, a, out.AsX())
}
