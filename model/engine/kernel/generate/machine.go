package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// machine is an instruction set: AVX-512 with 32 registers of 16 numbers and mask registers, or
// AVX2 with FMA, 16 registers of 8 numbers that hold masks too.
type machine struct {
	suffix string
	wide   bool
	labels int
	// select8 is the table with which expand tests the bits of a byte.
	select8 *Mem
	// masks is the table that cut reads its masks from.
	masks *Mem
}

// function begins a function whose pointer arguments do not escape.
func (m *machine) function(name, signature, does string) {
	TEXT(name+m.suffix, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + m.suffix + " " + does)
}

// v returns vector register i. Registers are assigned by hand: every function uses nearly all.
func (m *machine) v(i int) reg.VecPhysical {
	if m.wide {
		return []reg.VecPhysical{
			reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7,
			reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
			reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23,
			reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
		}[i]
	}
	return []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7,
		reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	}[i]
}

// registers returns count vector registers from first on.
func (m *machine) registers(first, count int) []reg.VecPhysical {
	var out []reg.VecPhysical
	for i := range count {
		out = append(out, m.v(first+i))
	}
	return out
}

// bytes returns the size of a vector register.
func (m *machine) bytes() int {
	if m.wide {
		return 64
	}
	return 32
}

// floats returns the number of float32 that a vector register holds.
func (m *machine) floats() int { return m.bytes() / 4 }

// label returns a name that no other label of the file has.
func (m *machine) label(name string) string {
	m.labels++
	return fmt.Sprintf("%s%d", name, m.labels)
}

// zero clears a register.
func (m *machine) zero(v reg.VecPhysical) {
	if m.wide {
		VPXORD(v, v, v)
		return
	}
	VXORPS(v, v, v)
}

// pointer loads a parameter into a new register.
func pointer(name string) reg.GPVirtual {
	return Load(Param(name), GP64()).(reg.GPVirtual)
}

// later returns an index plus after, at most last.
func later(index reg.GPVirtual, after int, last reg.GPVirtual) reg.GPVirtual {
	i := GP64()
	LEAQ(Mem{Base: index, Disp: after}, i)
	CMPQ(i, last)
	CMOVQGT(last, i)
	return i
}

// mask is the mask register of the comparisons below, for AVX-512.
var mask = reg.K1

const (
	equal            = 0 // false for NaN
	unordered        = 3
	notEqual         = 4 // true for NaN
	notLessOrEqual   = 6 // true for NaN
	constantOne      = 0x3f800000
	normalizeEpsilon = 0x3727c5ac // 1e-5
	smallestVariance = 0x358637bd // 1e-6
)

// constant fills a register with the number of these bits.
func (m *machine) constant(bits uint32, v reg.VecPhysical) {
	t := GP32()
	MOVL(U32(bits), t)
	m.fill(t, v)
}

// fill fills a register with the 32 bits of another.
func (m *machine) fill(bits reg.GPVirtual, v reg.VecPhysical) {
	VMOVD(bits, v.AsX())
	VBROADCASTSS(v.AsX(), v)
}

// keepWhere clears v where predicate does not hold for a and b. scratch may be b.
func (m *machine) keepWhere(predicate uint64, a Op, b, v, scratch reg.VecPhysical) {
	if m.wide {
		VCMPPS(U8(predicate), a, b, mask)
		VMOVAPS_Z(v, mask, v)
		return
	}
	VCMPPS(U8(predicate), a, b, scratch)
	VANDPS(scratch, v, v)
}

// addWhereEqual adds amount to sum where a equals b, and clears it there, so that one member gets it.
func (m *machine) addWhereEqual(a, b, amount, sum, scratch, other reg.VecPhysical) {
	if m.wide {
		VCMPPS(U8(equal), a, b, mask)
		VADDPS(amount, sum, mask, sum)
		VXORPS(amount, amount, mask, amount)
		return
	}
	VCMPPS(U8(equal), a, b, scratch)
	VANDPS(amount, scratch, other)
	VADDPS(other, sum, sum)
	VANDNPS(amount, scratch, amount)
}

// total adds up the numbers of v and broadcasts the sum to v. scratch is overwritten.
func (m *machine) total(v, scratch reg.VecPhysical) {
	x, s := v.AsX(), scratch.AsX()
	if m.wide {
		VEXTRACTF64X4(U8(1), v, scratch.AsY())
		VADDPS(scratch.AsY(), v.AsY(), v.AsY())
	}
	m.upperHalf(v, scratch)
	VADDPS(s, x, x)
	VPERMILPS(U8(0x4e), x, s)
	VADDPS(s, x, x)
	VPERMILPS(U8(0xb1), x, s)
	VADDPS(s, x, x)
	VBROADCASTSS(x, v)
}

// upperHalf moves the upper four of eight numbers of v to the lower four of out.
func (m *machine) upperHalf(v, out reg.VecPhysical) {
	if m.wide {
		VEXTRACTF32X4(U8(1), v.AsY(), out.AsX())
		return
	}
	VEXTRACTF128(U8(1), v.AsY(), out.AsX())
}

// expand turns the lowest 8 bits of word into a mask of 8 numbers, all ones or all zeros each.
func (m *machine) expand(word reg.GPVirtual, v reg.VecPhysical) {
	if m.select8 == nil {
		table := GLOBL("bits", attr.RODATA|attr.NOPTR)
		for i := range 8 {
			DATA(4*i, U32(1<<i))
		}
		m.select8 = &table
	}
	VMOVD(word.As32(), v.AsX())
	VPBROADCASTD(v.AsX(), v)
	VPAND(*m.select8, v, v)
	VPCMPEQD(*m.select8, v, v)
}
