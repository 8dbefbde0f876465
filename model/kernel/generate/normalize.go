package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// updater is what the two directions of the normalization share: the rows of an update, of
// which one at a time is in registers.
type updater struct {
	*machine
	dim, vectors                int
	i, count                    reg.GPVirtual // the row's place, of so many
	row, at                     reg.GPVirtual // its rows in the tables and in linear
	linear, deviation           reg.GPVirtual
	bias, scale, shift, kept    reg.GPVirtual
	values                      []reg.VecPhysical
	x, scratch, sum, product    reg.VecPhysical
	zeroes, keptScale, oneOfDim reg.VecPhysical
}

func (m *machine) newUpdater(dim int) *updater {
	n := dim / m.lanes()
	u := &updater{machine: m, dim: dim, vectors: n, values: m.run(0, n)}
	next := n
	if m.wide {
		next = 4*n + 9 // behind what four rows take
	}
	for i, v := range []*reg.VecPhysical{&u.x, &u.scratch, &u.sum, &u.product, &u.zeroes, &u.keptScale, &u.oneOfDim} {
		*v = m.v(next + i)
	}
	return u
}

func (u *updater) start() {
	u.count, u.scale, u.shift = pointer("count"), pointer("scale"), pointer("shift")
	u.i = GP64()
	XORQ(u.i, u.i)
	u.zero(u.zeroes)
	u.constant(math.Float32bits(1/float32(u.dim)), u.oneOfDim)
	keptScale, err := Param("keptScale").Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(keptScale.Addr, u.keptScale)
}

// part is vector j at base.
func (u *updater) part(base reg.GPVirtual, j int) Mem {
	return Mem{Base: base, Disp: j * u.bytes()}
}

// eachRow is the loop over rows.
func (u *updater) eachRow(body func()) {
	next, end := u.label("row"), u.label("end")
	Label(next)
	CMPQ(u.i, u.count)
	JGE(LabelRef(end))
	u.aim(0)
	body()
	INCQ(u.i)
	JMP(LabelRef(next))
	Label(end)
	VZEROUPPER()
	RET()
}

// aim sets the pointers to the row that is so many behind the current one.
func (u *updater) aim(behind int) {
	u.row, u.at, u.kept = GP64(), GP64(), pointer("kept")
	MOVLQSX(Mem{Base: pointer("rows"), Index: u.i, Scale: 4, Disp: 4 * behind}, u.row)
	MOVLQSX(Mem{Base: pointer("at"), Index: u.i, Scale: 4, Disp: 4 * behind}, u.at)
	u.deviation = pointer("deviation")
	LEAQ(Mem{Base: u.deviation, Index: u.at, Scale: 4}, u.deviation)
	u.move(u.kept, u.at, pointer("keptStride"))
	u.linear = u.rowOf("linear", u.at)
}

// move moves base by so many strides.
func (u *updater) move(base, rows, stride reg.GPVirtual) {
	offset := GP64()
	MOVQ(rows, offset)
	IMULQ(stride, offset)
	ADDQ(offset, base)
}

// rowOf is a pointer to a row of a parameter with rows of dim numbers.
func (u *updater) rowOf(name string, row reg.GPVirtual) reg.GPVirtual {
	base, offset := pointer(name), GP64()
	IMUL3Q(U32(4*u.dim), row, offset)
	ADDQ(offset, base)
	return base
}

// dropout multiplies vector j of a row by keptScale, or by 0 where it is dropped.
func (u *updater) dropout(v reg.VecPhysical, j int) {
	bits := GP32()
	if u.wide {
		MOVWLZX(Mem{Base: u.kept, Disp: 2 * j}, bits)
		KMOVW(bits, mask)
		VMULPS_Z(u.keptScale, v, mask, v)
		return
	}
	MOVBLZX(Mem{Base: u.kept, Disp: j}, bits)
	u.expand(bits, u.scratch)
	VMULPS(u.keptScale, v, v)
	VANDPS(u.scratch, v, v)
}

// affine leaves scale*x + shift, for vector j, in v.
func (u *updater) affine(x reg.VecPhysical, j int, v reg.VecPhysical) {
	VMOVUPS(u.part(u.shift, j), v)
	VFMADD231PS(u.part(u.scale, j), x, v)
}

// normalize writes layer norm, scale and shift, ReLU, dropout and the residual.
func (m *machine) normalize(dim int) {
	name := fmt.Sprintf("normalize%d%s", dim, m.suffix)
	TEXT(name, NOSPLIT, "func(count int, rows, at *int32, linear, bias, deviation, scale, shift *float32, kept *uint32, keptStride int, keptScale float32, own *float32, ownStride int, output *float32, outputStride int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is portable.Normalize for rows of %d.", name, dim))
	u := m.newUpdater(dim)
	u.start()
	u.bias = pointer("bias")
	if u.wide {
		u.normalizeFours()
	}
	u.eachRow(func() {
		u.normalizeRow()
		u.finish(u.values)
	})
}

// finish stores a row that was normalized, and what becomes of it.
func (u *updater) finish(values []reg.VecPhysical) {
	own, output := pointer("own"), pointer("output")
	u.move(own, u.row, pointer("ownStride"))
	u.move(output, u.row, pointer("outputStride"))
	for j, v := range values {
		VMOVUPS(v, u.part(u.linear, j))
		u.affine(v, j, u.x)
		VMAXPS(u.x, u.zeroes, u.x) // a NaN stays
		u.dropout(u.x, j)
		VADDPS(u.part(own, j), u.x, u.x)
		VMOVUPS(u.x, u.part(output, j))
	}
}

// normalizeRow reads a row and normalizes it, in registers.
func (u *updater) normalizeRow() {
	for j, v := range u.values {
		VMOVUPS(u.part(u.linear, j), v)
		VADDPS(u.part(u.bias, j), v, v)
		if j == 0 {
			VMOVAPS(v, u.sum)
		} else {
			VADDPS(v, u.sum, u.sum)
		}
	}
	u.total(u.sum, u.scratch)
	VMULPS(u.oneOfDim, u.sum, u.sum)
	for j, v := range u.values {
		VSUBPS(u.sum, v, v)
		if j == 0 {
			VMULPS(v, v, u.product)
		} else {
			VFMADD231PS(v, v, u.product)
		}
	}
	u.total(u.product, u.scratch)
	u.constant(normalizeEpsilon, u.scratch)
	VFMADD231PS(u.oneOfDim, u.product, u.scratch)
	x := u.scratch.AsX()
	VSQRTSS(x, x, x)
	u.constant(constantOne, u.sum)
	VDIVSS(x, u.sum.AsX(), x)
	VMOVSS(x, Mem{Base: u.deviation})
	VBROADCASTSS(x, u.scratch)
	for _, v := range u.values {
		VMULPS(u.scratch, v, v)
	}
}

// normalizeBackward writes the gradient of normalize.
func (m *machine) normalizeBackward(dim int) {
	name := fmt.Sprintf("normalizeBackward%d%s", dim, m.suffix)
	TEXT(name, NOSPLIT, "func(count int, rows, at *int32, linear, deviation, scale, shift *float32, kept *uint32, keptStride int, keptScale float32, gradient, byLinear, byBias, byScale, byShift *float32)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is portable.NormalizeBackward for rows of %d.", name, dim))
	u := m.newUpdater(dim)
	u.start()
	byBias, byScale, byShift := pointer("byBias"), pointer("byScale"), pointer("byShift")
	u.eachRow(func() {
		gradient, byLinear := u.rowOf("gradient", u.row), u.rowOf("byLinear", u.at)
		for j, v := range u.values {
			VMOVUPS(u.part(gradient, j), v)
			u.dropout(v, j)
			VMOVUPS(u.part(u.linear, j), u.x)
			u.affine(u.x, j, u.scratch)
			u.keepWhere(notLessOrEqual, u.zeroes, u.scratch, v, u.scratch)
		}
		u.addWhere(byShift, func(int) {})
		u.addWhere(byScale, func(j int) { VMULPS(u.part(u.linear, j), u.scratch, u.scratch) })
		u.takeBack(byLinear)
		u.addWhere(byBias, func(int) {})
	})
}

// addWhere adds to the sums of a parameter, if there are any, what becomes of the row.
func (u *updater) addWhere(sums reg.GPVirtual, become func(j int)) {
	none := u.label("none")
	TESTQ(sums, sums)
	JZ(LabelRef(none))
	for j, v := range u.values {
		VMOVAPS(v, u.scratch)
		become(j)
		VADDPS(u.part(sums, j), u.scratch, u.scratch)
		VMOVUPS(u.scratch, u.part(sums, j))
	}
	Label(none)
}

// takeBack turns a row's gradient into that of what was normalized.
func (u *updater) takeBack(byLinear reg.GPVirtual) {
	for j, v := range u.values {
		VMULPS(u.part(u.scale, j), v, v)
		if j == 0 {
			VMOVAPS(v, u.sum)
			VMULPS(u.part(u.linear, j), v, u.product)
			continue
		}
		VADDPS(v, u.sum, u.sum)
		VFMADD231PS(u.part(u.linear, j), v, u.product)
	}
	u.total(u.sum, u.scratch)
	u.total(u.product, u.scratch)
	VMULPS(u.oneOfDim, u.sum, u.sum)
	VMULPS(u.oneOfDim, u.product, u.product)
	VBROADCASTSS(Mem{Base: u.deviation}, u.x)
	for j, v := range u.values {
		VSUBPS(u.sum, v, v)
		VFNMADD231PS(u.part(u.linear, j), u.product, v)
		VMULPS(u.x, v, v)
		VMOVUPS(v, u.part(byLinear, j))
	}
}
