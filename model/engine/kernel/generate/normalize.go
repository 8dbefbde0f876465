package main

import (
	"fmt"
	"math"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// updater serves both directions of the normalization, with the loop over the rows of an
// update, of which one or several are in registers at a time.
type updater struct {
	*machine
	dim, vectors                   int
	i, count                       reg.GPVirtual // the index of the row, and their number
	row, at                        reg.GPVirtual // its rows in the tables and in linear
	linear, deviation, dropoutMask reg.GPVirtual
	bias, scale, shift             []Op
	values                         []reg.VecPhysical
	x, scratch, sum, product       reg.VecPhysical
	zeroes, maskScale, oneOfDim    reg.VecPhysical
}

// held is the number of registers that hold the rows of an AVX-512 update.
const held = 16

// newUpdater assigns registers to the row's vectors and to temporaries.
func (m *machine) newUpdater(dim int) *updater {
	n := dim / m.floats()
	u := &updater{machine: m, dim: dim, vectors: n, values: m.registers(0, n)}
	next := n
	if m.wide {
		next = held
	}
	for i, v := range []*reg.VecPhysical{&u.x, &u.scratch, &u.sum, &u.product, &u.zeroes, &u.maskScale, &u.oneOfDim} {
		*v = m.v(next + i)
	}
	return u
}

func (u *updater) start() {
	u.count, u.scale, u.shift = pointer("count"), u.vectorsOf("scale"), u.vectorsOf("shift")
	u.i = GP64()
	XORQ(u.i, u.i)
	u.zero(u.zeroes)
	u.constant(math.Float32bits(1/float32(u.dim)), u.oneOfDim)
}

// vectorsOf returns the vectors of a parameter of dim numbers.
func (u *updater) vectorsOf(name string) (out []Op) {
	base := pointer(name)
	for j := range u.vectors {
		out = append(out, u.machine.at(base, j))
	}
	return out
}

// eachRow is the loop over rows.
func (u *updater) eachRow(body func()) {
	u.eachGroup(1, func() {
		u.readRows(u.i)
		body()
	})
}

// eachGroup writes the loop over groups of rows, which ends the function.
func (u *updater) eachGroup(rows int, body func()) {
	next, end := u.label("rows"), u.label("end")
	Label(next)
	CMPQ(u.i, u.count)
	JGE(LabelRef(end))
	body()
	ADDQ(U8(rows), u.i)
	JMP(LabelRef(next))
	Label(end)
	VZEROUPPER()
	RET()
}

// readRows sets the rows in the tables and in linear to the rows at index i.
func (u *updater) readRows(i reg.GPVirtual) {
	u.row, u.at = GP64(), GP64()
	MOVLQSX(Mem{Base: pointer("rows"), Index: i, Scale: 4}, u.row)
	MOVLQSX(Mem{Base: pointer("linearRows"), Index: i, Scale: 4}, u.at)
}

// lastRow returns the index of the last row.
func (u *updater) lastRow() reg.GPVirtual {
	last := GP64()
	MOVQ(u.count, last)
	DECQ(last)
	return last
}

// aimTraining sets the pointers to the row's inverse deviation and dropout mask.
func (u *updater) aimTraining() {
	u.deviation, u.dropoutMask = pointer("deviation"), pointer("dropoutMask")
	LEAQ(Mem{Base: u.deviation, Index: u.at, Scale: 4}, u.deviation)
	offset := GP64()
	MOVQ(u.at, offset)
	IMULQ(pointer("maskStride"), offset)
	ADDQ(offset, u.dropoutMask)
}

// rowOf returns a pointer to a row of a parameter with rows of dim numbers.
func (u *updater) rowOf(name string, row reg.GPVirtual) reg.GPVirtual {
	base, offset := pointer(name), GP64()
	IMUL3Q(U32(4*u.dim), row, offset)
	ADDQ(offset, base)
	return base
}

// dropout multiplies vector j of a row by maskScale, or by 0 where the mask drops it.
func (u *updater) dropout(v reg.VecPhysical, j int) {
	bits := GP32()
	if u.wide {
		MOVWLZX(Mem{Base: u.dropoutMask, Disp: 2 * j}, bits)
		KMOVW(bits, mask)
		VMULPS_Z(u.maskScale, v, mask, v)
		return
	}
	MOVBLZX(Mem{Base: u.dropoutMask, Disp: j}, bits)
	u.expand(bits, u.scratch)
	VMULPS(u.maskScale, v, v)
	VANDPS(u.scratch, v, v)
}

// affine sets v to scale*x + shift for vector j.
func (u *updater) affine(x reg.VecPhysical, j int, v reg.VecPhysical) {
	VMOVUPS(u.shift[j], v)
	VFMADD231PS(u.scale[j], x, v)
}

// activate sets v to the ReLU of scale*x + shift for vector j.
func (u *updater) activate(x reg.VecPhysical, j int, v reg.VecPhysical) {
	u.affine(x, j, v)
	VMAXPS(v, u.zeroes, v) // a NaN stays
}

// normalizer is the forward direction. While training it applies dropout and stores what the backward pass reads.
type normalizer struct {
	*updater
	training bool
}

// normalize writes layer norm, scale and shift, ReLU, dropout and the residual.
func (m *machine) normalize(dim int, training bool) {
	name := "normalize"
	if training {
		name = "normalizeTraining"
	}
	m.function(fmt.Sprintf("%s%d", name, dim), "func(count int, rows, linearRows *int32, linear, bias, deviation, scale, shift *float32, dropoutMask "+
		"*uint32, maskStride int, maskScale float32, residual *float32, residualMask int, output *float32)",
		fmt.Sprintf("is portable.Normalize for rows of %d.", dim))
	n := &normalizer{m.newUpdater(dim), training}
	n.start()
	n.bias = n.vectorsOf("bias")
	n.linear = pointer("linear")
	if n.training {
		n.scalar("maskScale", n.maskScale)
	}
	if n.wide {
		n.together()
		return
	}
	n.eachRow(func() {
		if n.training {
			n.aimTraining()
		}
		linear := n.linearAddress()
		n.normalizeRow(linear)
		n.finish(n.values, linear)
	})
}

// address returns the address of vector j of a row.
type address func(j int) Mem

// address returns the addresses of the numbers at base and offset.
func (n *normalizer) address(base, offset reg.GPVirtual) address {
	return func(j int) Mem { return n.indexed(base, offset, j) }
}

// offset returns the offset of a row in its table.
func (n *normalizer) offset(row reg.GPVirtual) reg.GPVirtual {
	offset := GP64()
	MOVQ(row, offset)
	SHLQ(U8(bits.TrailingZeros(uint(4*n.dim))), offset)
	return offset
}

// linearAddress returns the addresses of the current row in linear.
func (n *normalizer) linearAddress() address { return n.address(n.linear, n.offset(n.at)) }

// tableAddresses returns the addresses of the current row in the residual and the output.
func (n *normalizer) tableAddresses() (residual, output address) {
	row := n.offset(n.row)
	masked := pointer("residualMask")
	ANDQ(row, masked)
	return n.address(pointer("residual"), masked), n.address(pointer("output"), row)
}

// finish computes and stores the output of a normalized row.
func (n *normalizer) finish(values []reg.VecPhysical, linear address) {
	residual, output := n.tableAddresses()
	for j, v := range values {
		if n.training {
			VMOVUPS(v, linear(j))
		}
		n.activate(v, j, n.x)
		if n.training {
			n.dropout(n.x, j)
		}
		VADDPS(residual(j), n.x, n.x)
		VMOVUPS(n.x, output(j))
	}
}

// normalizeRow reads a row and normalizes it, in registers.
func (n *normalizer) normalizeRow(linear address) {
	for j, v := range n.values {
		VMOVUPS(linear(j), v)
		VADDPS(n.bias[j], v, v)
		if j == 0 {
			VMOVAPS(v, n.sum)
		} else {
			VADDPS(v, n.sum, n.sum)
		}
	}
	// The mean, and the deviations from it.
	n.total(n.sum, n.scratch)
	VMULPS(n.oneOfDim, n.sum, n.sum)
	for j, v := range n.values {
		VSUBPS(n.sum, v, v)
		if j == 0 {
			VMULPS(v, v, n.product)
		} else {
			VFMADD231PS(v, v, n.product)
		}
	}
	// Their mean square gives the inverse deviation, which the backward pass needs, too.
	n.total(n.product, n.scratch)
	n.constant(normalizeEpsilon, n.scratch)
	VFMADD231PS(n.oneOfDim, n.product, n.scratch)
	x := n.scratch.AsX()
	VSQRTSS(x, x, x)
	n.constant(constantOne, n.sum)
	VDIVSS(x, n.sum.AsX(), x)
	if n.training {
		VMOVSS(x, Mem{Base: n.deviation})
	}
	VBROADCASTSS(x, n.scratch)
	for _, v := range n.values {
		VMULPS(n.scratch, v, v)
	}
}
