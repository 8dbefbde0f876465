package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// normalizeBackward writes the gradient of normalize.
func (m *machine) normalizeBackward(dim int) {
	m.function(fmt.Sprintf("normalizeBackward%d", dim),
		"func(count int, rows, linearRows *int32, linear, deviation, scale, shift *float32, dropoutMask *uint32, maskStride int, maskScale float32, "+
			"gradient, byLinear, byBias, byScale, byShift *float32)",
		fmt.Sprintf("is portable.NormalizeBackward for rows of %d.", dim))
	u := m.newUpdater(dim)
	u.start()
	u.scalar("maskScale", u.maskScale)
	byBias, byScale, byShift := pointer("byBias"), pointer("byScale"), pointer("byShift")
	u.eachRow(func() {
		u.aimTraining()
		u.linear = u.rowOf("linear", u.at)
		gradient, byLinear := u.rowOf("gradient", u.row), u.rowOf("byLinear", u.at)
		for j, v := range u.values {
			VMOVUPS(u.machine.at(gradient, j), v)
			u.dropout(v, j)
			VMOVUPS(u.machine.at(u.linear, j), u.x)
			u.affine(u.x, j, u.scratch)
			u.keepWhere(notLessOrEqual, u.zeroes, u.scratch, v, u.scratch)
		}
		u.addWhere(byShift, func(int) {})
		u.addWhere(byScale, func(j int) { VMULPS(u.machine.at(u.linear, j), u.scratch, u.scratch) })
		u.throughNorm(byLinear)
		u.addWhere(byBias, func(int) {})
	})
}

// addWhere adds the row, as transform transforms it, to the sums of a parameter if they are wanted.
func (u *updater) addWhere(sums reg.GPVirtual, transform func(j int)) {
	none := u.label("none")
	TESTQ(sums, sums)
	JZ(LabelRef(none))
	for j, v := range u.values {
		VMOVAPS(v, u.scratch)
		transform(j)
		VADDPS(u.machine.at(sums, j), u.scratch, u.scratch)
		VMOVUPS(u.scratch, u.machine.at(sums, j))
	}
	Label(none)
}

// throughNorm turns the gradient with respect to the normalized row into that with respect to the row.
func (u *updater) throughNorm(byLinear reg.GPVirtual) {
	for j, v := range u.values {
		VMULPS(u.scale[j], v, v)
		if j == 0 {
			VMOVAPS(v, u.sum)
			VMULPS(u.machine.at(u.linear, j), v, u.product)
			continue
		}
		VADDPS(v, u.sum, u.sum)
		VFMADD231PS(u.machine.at(u.linear, j), v, u.product)
	}
	u.total(u.sum, u.scratch)
	u.total(u.product, u.scratch)
	VMULPS(u.oneOfDim, u.sum, u.sum)
	VMULPS(u.oneOfDim, u.product, u.product)
	VBROADCASTSS(Mem{Base: u.deviation}, u.x)
	for j, v := range u.values {
		VSUBPS(u.sum, v, v)
		VFNMADD231PS(u.machine.at(u.linear, j), u.product, v)
		VMULPS(u.x, v, v)
		VMOVUPS(v, u.machine.at(byLinear, j))
	}
}
