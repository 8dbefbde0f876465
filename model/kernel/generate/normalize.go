package main

import (
	"fmt"
	"math"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// updater is what the two directions of the normalization share: the rows of an update, of
// which one at a time is in registers, or several where there are enough.
type updater struct {
	*machine
	dim, vectors                int
	i, count                    reg.GPVirtual // the row's place, of so many
	row, at                     reg.GPVirtual // its rows in the tables and in linear
	linear, deviation, kept     reg.GPVirtual
	bias, scale, shift          []Op
	values                      []reg.VecPhysical
	x, scratch, sum, product    reg.VecPhysical
	zeroes, keptScale, oneOfDim reg.VecPhysical
}

// held is how many registers hold what an AVX-512 update works on.
const held = 16

func (m *machine) newUpdater(dim int) *updater {
	n := dim / m.lanes()
	u := &updater{machine: m, dim: dim, vectors: n, values: m.run(0, n)}
	next := n
	if m.wide {
		next = held
	}
	for i, v := range []*reg.VecPhysical{&u.x, &u.scratch, &u.sum, &u.product, &u.zeroes, &u.keptScale, &u.oneOfDim} {
		*v = m.v(next + i)
	}
	return u
}

func (u *updater) start() {
	u.count, u.scale, u.shift = pointer("count"), u.parts("scale"), u.parts("shift")
	u.i = GP64()
	XORQ(u.i, u.i)
	u.zero(u.zeroes)
	u.constant(math.Float32bits(1/float32(u.dim)), u.oneOfDim)
}

// parts are the vectors of a parameter of dim numbers.
func (u *updater) parts(name string) (out []Op) {
	base := pointer(name)
	for j := range u.vectors {
		out = append(out, u.part(base, j))
	}
	return out
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
	u.row, u.at = GP64(), GP64()
	MOVLQSX(Mem{Base: pointer("rows"), Index: u.i, Scale: 4}, u.row)
	MOVLQSX(Mem{Base: pointer("at"), Index: u.i, Scale: 4}, u.at)
	body()
	INCQ(u.i)
	JMP(LabelRef(next))
	Label(end)
	VZEROUPPER()
	RET()
}

// aimBack sets the pointers to what only training keeps of a row.
func (u *updater) aimBack() {
	u.deviation, u.kept = pointer("deviation"), pointer("kept")
	LEAQ(Mem{Base: u.deviation, Index: u.at, Scale: 4}, u.deviation)
	offset := GP64()
	MOVQ(u.at, offset)
	IMULQ(pointer("keptStride"), offset)
	ADDQ(offset, u.kept)
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
	VMOVUPS(u.shift[j], v)
	VFMADD231PS(u.scale[j], x, v)
}

// ending is a case of the end of an update: so many queries side by side, or one while
// training, which drops out and keeps what the way back reads.
type ending struct {
	name     string
	queries  int
	training bool
}

var endings = []ending{{"normalize", 1, false}, {"normalizePair", 2, false}, {"normalizeTraining", 1, true}}

// normalizer is an updater on its way forward.
type normalizer struct {
	*updater
	ending
	linears [2]reg.GPVirtual // by lane
}

// normalize writes layer norm, scale and shift, ReLU, dropout and the residual.
func (m *machine) normalize(dim int, e ending) {
	name := fmt.Sprintf("%s%d%s", e.name, dim, m.suffix)
	TEXT(name, NOSPLIT, "func(count int, rows, at *int32, linear *float32, lane int, bias, deviation, scale, shift *float32, kept *uint32, keptStride int, keptScale float32, own *float32, ownMask int, output *float32)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is portable.Normalize for rows of %d.", name, dim))
	n := &normalizer{updater: m.newUpdater(dim), ending: e}
	n.start()
	n.bias = n.parts("bias")
	n.linears[0] = pointer("linear")
	if n.queries == 2 {
		n.linears[1] = pointer("lane")
		ADDQ(n.linears[0], n.linears[1])
	}
	if n.training {
		n.scalar("keptScale", n.keptScale)
	}
	if n.wide {
		n.together()
		return
	}
	n.eachRow(func() {
		if n.training {
			n.aimBack()
		}
		for lane := range e.queries {
			linear := n.placeOfLinear(lane)
			n.normalizeRow(linear)
			n.finish(n.values, lane, linear)
		}
	})
}

// place is where the vectors of a lane of a row stand.
type place func(j int) Mem

// place returns where a lane of dim numbers stands behind base and offset.
func (n *normalizer) place(base, offset reg.GPVirtual, lane int) place {
	return func(j int) Mem { return Mem{Base: base, Index: offset, Scale: 1, Disp: lane*4*n.dim + j*n.bytes()} }
}

// offset is where a row of so many lanes begins in its table.
func (n *normalizer) offset(row reg.GPVirtual, lanes int) reg.GPVirtual {
	offset := GP64()
	MOVQ(row, offset)
	SHLQ(U8(bits.TrailingZeros(uint(4*n.dim*lanes))), offset)
	return offset
}

// placeOfLinear returns where a lane of the current row stands in linear.
func (n *normalizer) placeOfLinear(lane int) place {
	return n.place(n.linears[lane], n.offset(n.at, 1), 0)
}

// placesInTables returns where it stands in the residual and in the output.
func (n *normalizer) placesInTables(lane int) (own, output place) {
	row := n.offset(n.row, n.queries)
	masked := pointer("ownMask")
	ANDQ(row, masked)
	return n.place(pointer("own"), masked, lane), n.place(pointer("output"), row, lane)
}

// finish stores what becomes of a lane of a row that was normalized.
func (n *normalizer) finish(values []reg.VecPhysical, lane int, linear place) {
	own, output := n.placesInTables(lane)
	for j, v := range values {
		if n.training {
			VMOVUPS(v, linear(j))
		}
		n.affine(v, j, n.x)
		VMAXPS(n.x, n.zeroes, n.x) // a NaN stays
		if n.training {
			n.dropout(n.x, j)
		}
		VADDPS(own(j), n.x, n.x)
		VMOVUPS(n.x, output(j))
	}
}

// normalizeRow reads a lane of a row and normalizes it, in registers.
func (n *normalizer) normalizeRow(linear place) {
	for j, v := range n.values {
		VMOVUPS(linear(j), v)
		VADDPS(n.bias[j], v, v)
		if j == 0 {
			VMOVAPS(v, n.sum)
		} else {
			VADDPS(v, n.sum, n.sum)
		}
	}
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
