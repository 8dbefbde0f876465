package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vectors writes the loops over arrays. They round as portable does, operation by operation, so their
// results have the same bits.
func (m *machine) vectors() {
	m.add()
	m.product()
	m.relu()
	m.reluBackward()
	m.adam()
	m.dropoutMasks()
	m.transpose()
}

// eachVector is the loop over count numbers, atATime vectors per iteration, then one. body handles
// that many vectors; the pointers advance after it.
func (m *machine) eachVector(count reg.GPVirtual, atATime int, pointers []reg.GPVirtual, body func(vectors int)) {
	steps := []int{atATime}
	if atATime > 1 {
		steps = append(steps, 1)
	}
	for _, vectors := range steps {
		next, end := m.label("vectors"), m.label("rest")
		Label(next)
		CMPQ(count, U32(vectors*m.floats()))
		JL(LabelRef(end))
		body(vectors)
		for _, at := range pointers {
			ADDQ(U32(vectors*m.bytes()), at)
		}
		SUBQ(U32(vectors*m.floats()), count)
		JMP(LabelRef(next))
		Label(end)
	}
}

// at is vector j at base.
func (m *machine) at(base reg.GPVirtual, j int) Mem { return Mem{Base: base, Disp: j * m.bytes()} }

// indexed is vector j at base plus index bytes.
func (m *machine) indexed(base, index reg.GPVirtual, j int) Mem {
	return Mem{Base: base, Index: index, Scale: 1, Disp: j * m.bytes()}
}

// add writes sum += a.
func (m *machine) add() {
	m.function("add", "func(sum, a *float32, count int)", "is portable.Add for whole vectors.")
	sum, a, count := pointer("sum"), pointer("a"), pointer("count")
	m.eachVector(count, 4, []reg.GPVirtual{sum, a}, func(vectors int) {
		for j := range vectors {
			VMOVUPS(m.at(sum, j), m.v(j))
		}
		for j := range vectors {
			VADDPS(m.at(a, j), m.v(j), m.v(j))
			VMOVUPS(m.v(j), m.at(sum, j))
		}
	})
	VZEROUPPER()
	RET()
}

// product writes out = a b, entry by entry.
func (m *machine) product() {
	m.function("product", "func(out, a, b *float32, count int)", "is portable.Product for whole vectors.")
	out, a, b, count := pointer("out"), pointer("a"), pointer("b"), pointer("count")
	m.eachVector(count, 4, []reg.GPVirtual{out, a, b}, func(vectors int) {
		for j := range vectors {
			VMOVUPS(m.at(a, j), m.v(j))
		}
		for j := range vectors {
			VMULPS(m.at(b, j), m.v(j), m.v(j))
			VMOVUPS(m.v(j), m.at(out, j))
		}
	})
	VZEROUPPER()
	RET()
}

// relu writes out = max(a, 0).
func (m *machine) relu() {
	m.function("relu", "func(out, a *float32, count int)", "is portable.ReLU for whole vectors.")
	out, a, count := pointer("out"), pointer("a"), pointer("count")
	none, x := m.v(0), m.v(1)
	m.zero(none)
	m.eachVector(count, 1, []reg.GPVirtual{out, a}, func(int) {
		VMOVUPS(m.at(a, 0), x)
		VMAXPS(x, none, x) // a NaN stays
		VMOVUPS(x, m.at(out, 0))
	})
	VZEROUPPER()
	RET()
}

// reluBackward writes out = gradient where a > 0, else 0.
func (m *machine) reluBackward() {
	m.function("reluBackward", "func(out, a, gradient *float32, count int)", "is portable.ReLUBackward for whole vectors.")
	out, a, gradient, count := pointer("out"), pointer("a"), pointer("gradient"), pointer("count")
	none, x, by := m.v(0), m.v(1), m.v(2)
	m.zero(none)
	m.eachVector(count, 1, []reg.GPVirtual{out, a, gradient}, func(int) {
		const greater = 14 // false for NaN
		VMOVUPS(m.at(a, 0), x)
		VMOVUPS(m.at(gradient, 0), by)
		m.keepWhere(greater, none, x, by, x)
		VMOVUPS(by, m.at(out, 0))
	})
	VZEROUPPER()
	RET()
}

// everywhere broadcasts a parameter to register i.
func (m *machine) everywhere(name string, i int) reg.VecPhysical {
	parameter, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(parameter.Addr, m.v(i))
	return m.v(i)
}

// adam writes a step of Adam.
func (m *machine) adam() {
	m.function("adam", "func(weight, gradient, first, second *float32, count int, decay, firstShare, keep, secondShare, size, correction, epsilon float32)",
		"is portable.Adam for whole vectors.")
	weight, gradient, first, second := pointer("weight"), pointer("gradient"), pointer("first"), pointer("second")
	count := pointer("count")
	decay, firstShare, keep, secondShare := m.everywhere("decay", 0), m.everywhere("firstShare", 1), m.everywhere("keep", 2), m.everywhere("secondShare", 3)
	size, correction, epsilon := m.everywhere("size", 4), m.everywhere("correction", 5), m.everywhere("epsilon", 6)
	w, g, mean, square, t := m.v(7), m.v(8), m.v(9), m.v(10), m.v(11)
	m.eachVector(count, 1, []reg.GPVirtual{weight, gradient, first, second}, func(int) {
		// The gradient, with weight decay.
		VMOVUPS(m.at(weight, 0), w)
		VMULPS(decay, w, g)
		VADDPS(m.at(gradient, 0), g, g)

		// The moving average of gradients.
		VMOVUPS(m.at(first, 0), mean)
		VSUBPS(mean, g, t)
		VMULPS(firstShare, t, t)
		VADDPS(t, mean, mean)
		VMOVUPS(mean, m.at(first, 0))

		// The moving average of squares.
		VMULPS(g, g, g)
		VMULPS(secondShare, g, g)
		VMULPS(m.at(second, 0), keep, square)
		VADDPS(g, square, square)
		VMOVUPS(square, m.at(second, 0))

		// The step: size mean / (sqrt(square) / correction + epsilon).
		VSQRTPS(square, square)
		VDIVPS(correction, square, square)
		VADDPS(epsilon, square, square)
		VDIVPS(square, mean, mean)
		VMULPS(size, mean, mean)
		VSUBPS(mean, w, w)
		VMOVUPS(w, m.at(weight, 0))
	})
	VZEROUPPER()
	RET()
}

// SplitMix64's step and the factors of its finalizer.
const (
	splitMixStep  = 0x9e3779b97f4a7c15
	splitMixFirst = 0xbf58476d1ce4e5b9
	splitMixLast  = 0x94d049bb133111eb
)

// dropoutDrawer draws a mask word of 32 dimensions from 8 numbers of 64 bits at once: one register of
// them with AVX-512, two with AVX2.
type dropoutDrawer struct {
	*machine
	x, h, t                    []reg.VecPhysical
	first, last                reg.VecPhysical // the factors
	firstUpper, lastUpper      reg.VecPhysical // their upper halves, for AVX2
	steps                      []reg.VecPhysical
	threshold                  reg.VecPhysical
	firstFactor, lastFactor    reg.GPVirtual
	entity, scratch, eightStep reg.GPVirtual
}

// newDropoutDrawer assigns registers: one vector of random numbers at a time, or two where vectors are narrow.
func (m *machine) newDropoutDrawer() *dropoutDrawer {
	k := &dropoutDrawer{machine: m, first: m.v(0), last: m.v(1), firstUpper: m.v(2), lastUpper: m.v(3), threshold: m.v(4)}
	if m.wide {
		k.steps, k.x, k.h = m.registers(5, 1), m.registers(6, 1), m.registers(7, 1)
	} else {
		k.steps, k.x, k.h, k.t = m.registers(5, 2), m.registers(7, 2), m.registers(9, 2), m.registers(11, 2)
	}
	k.firstFactor, k.lastFactor = GP64(), GP64()
	k.entity, k.scratch, k.eightStep = GP64(), GP64(), GP64()
	return k
}

// start fills the registers that stay constant.
func (k *dropoutDrawer) start() {
	table := GLOBL("steps", attr.RODATA|attr.NOPTR)
	for i := range 8 {
		step := uint64(splitMixStep)
		DATA(8*i, U64(uint64(i+1)*step))
	}
	for i, v := range k.steps {
		VMOVUPS(table.Offset(i*k.bytes()), v)
	}
	MOVQ(U64(splitMixFirst), k.firstFactor)
	MOVQ(U64(splitMixLast), k.lastFactor)
	eight := uint64(splitMixStep)
	eight *= 8
	MOVQ(U64(eight), k.eightStep)
	k.broadcast(k.firstFactor, k.first)
	k.broadcast(k.lastFactor, k.last)
	if !k.wide {
		VPSRLQ(U8(32), k.first, k.firstUpper)
		VPSRLQ(U8(32), k.last, k.lastUpper)
	}
	threshold := Load(Param("threshold"), GP32()).(reg.GPVirtual)
	VMOVD(threshold, k.threshold.AsX())
	VPBROADCASTW(k.threshold.AsX(), k.threshold)
}

func (k *dropoutDrawer) broadcast(from reg.GPVirtual, v reg.VecPhysical) {
	VMOVQ(from, v.AsX())
	VPBROADCASTQ(v.AsX(), v)
}

// mix applies SplitMix64's finalizer to one number.
func (k *dropoutDrawer) mix(x reg.GPVirtual) {
	for _, step := range []struct {
		shift  uint8
		factor reg.GPVirtual
	}{{30, k.firstFactor}, {27, k.lastFactor}} {
		MOVQ(x, k.scratch)
		SHRQ(U8(step.shift), k.scratch)
		XORQ(k.scratch, x)
		IMULQ(step.factor, x)
	}
	MOVQ(x, k.scratch)
	SHRQ(U8(31), k.scratch)
	XORQ(k.scratch, x)
}

// mixAll applies SplitMix64's finalizer to all numbers in x.
func (k *dropoutDrawer) mixAll() {
	k.shifted(30)
	k.times(k.first, k.firstUpper)
	k.shifted(27)
	k.times(k.last, k.lastUpper)
	k.shifted(31)
}

// shifted is x ^ x>>bits.
func (k *dropoutDrawer) shifted(bits uint8) {
	for i, x := range k.x {
		VPSRLQ(U8(bits), x, k.h[i])
		k.xor(k.h[i], x, x)
	}
}

// times multiplies x by a factor, modulo 2 to the 64. AVX2 has products of lower halves only:
// the two mixed ones go into the upper half.
func (k *dropoutDrawer) times(factor, upper reg.VecPhysical) {
	for i, x := range k.x {
		if k.wide {
			VPMULLQ(factor, x, x)
			continue
		}
		h, t := k.h[i], k.t[i]
		VPSRLQ(U8(32), x, h)
		VPMULUDQ(factor, h, h)
		VPMULUDQ(upper, x, t)
		VPADDQ(t, h, h)
		VPSLLQ(U8(32), h, h)
		VPMULUDQ(factor, x, x)
		VPADDQ(h, x, x)
	}
}

// bits returns a bit for each 16 bits of x, set where they are at least the threshold.
func (k *dropoutDrawer) bits() reg.GPVirtual {
	word := GP32()
	if k.wide {
		const notLess = 5
		VPCMPUW(U8(notLess), k.threshold, k.x[0], mask)
		KMOVD(mask, word)
		return word
	}
	for i, x := range k.x {
		VPMAXUW(k.threshold, x, k.h[i])
		VPCMPEQW(k.h[i], x, x)
	}
	VPACKSSWB(k.x[1], k.x[0], k.x[0]) // quarters of the first, second, first, second
	VPERMQ(U8(0xd8), k.x[0], k.x[0])
	VPMOVMSKB(k.x[0], word)
	return word
}

// dropoutMasks writes the drawing of masks, 32 bits at a time, from a hash of seed, layer and entity.
func (m *machine) dropoutMasks() {
	m.function("dropoutMasks", "func(masks *uint32, entities *int32, count, words int, seed, layer uint64, threshold uint32)", "is portable.DropoutMasks.")
	masks, entities, count := pointer("masks"), pointer("entities"), pointer("count")
	words, seed, layer := pointer("words"), pointer("seed"), pointer("layer")
	k := m.newDropoutDrawer()
	k.start()
	row, word, left := m.label("row"), m.label("word"), GP64()
	Label(row)
	// The state of a row's random numbers.
	MOVL(Mem{Base: entities}, k.entity.As32()) // clears the upper half
	ORQ(layer, k.entity)
	k.mix(k.entity)
	XORQ(seed, k.entity)
	k.mix(k.entity)
	MOVQ(words, left)
	Label(word)
	// A word: eight random numbers of 64 bits, each of which decides four bits.
	k.broadcast(k.entity, k.x[0])
	for i := len(k.x) - 1; i >= 0; i-- {
		VPADDQ(k.steps[i], k.x[0], k.x[i])
	}
	k.mixAll()
	MOVL(k.bits(), Mem{Base: masks})
	ADDQ(U8(4), masks)
	ADDQ(k.eightStep, k.entity)
	DECQ(left)
	JNZ(LabelRef(word))
	ADDQ(U8(4), entities)
	DECQ(count)
	JNZ(LabelRef(row))
	VZEROUPPER()
	RET()
}

// transpose goes by blocks of 8 by 8, in registers of 8 numbers with either instruction set: rows r
// and r+4 are loaded into one register, and each half transposes 4 by 4.
func (m *machine) transpose() {
	m.function("transpose", "func(out, a *float32, rows, columns, outRow, aRow int)", "is portable.Transpose for multiples of 8.")
	out, a, rows, columns := pointer("out"), pointer("a"), pointer("rows"), pointer("columns")
	outRow, aRow := pointer("outRow"), pointer("aRow")
	down, across := m.label("down"), m.label("across")
	from, to, left := GP64(), GP64(), GP64()
	Label(down)
	MOVQ(a, from)
	MOVQ(out, to)
	MOVQ(columns, left)
	Label(across)
	m.transposeBlock(to, from, outRow, aRow)
	ADDQ(U8(32), from)
	LEAQ(Mem{Base: to, Index: outRow, Scale: 8}, to)
	SUBQ(U8(8), left)
	JNZ(LabelRef(across))
	LEAQ(Mem{Base: a, Index: aRow, Scale: 8}, a)
	ADDQ(U8(32), out)
	SUBQ(U8(8), rows)
	JNZ(LabelRef(down))
	VZEROUPPER()
	RET()
}

// transposeBlock transposes 8 x 8 numbers from from to to, whose rows begin aRow and outRow bytes apart.
func (m *machine) transposeBlock(to, from, outRow, aRow reg.GPVirtual) {
	y := func(i int) reg.Register { return m.v(i).AsY() }
	a := rowsFrom(from, aRow)
	for half := range 2 {
		for r := range 4 {
			v := m.v(4*half + r)
			VMOVUPS(a[r].Offset(16*half), v.AsX())
			VINSERTF128(U8(1), a[r+4].Offset(16*half), v.AsY(), v.AsY())
		}
	}
	out := rowsFrom(to, outRow)
	for half := range 2 {
		x := 4 * half
		VUNPCKLPS(y(x+1), y(x), y(8))
		VUNPCKHPS(y(x+1), y(x), y(9))
		VUNPCKLPS(y(x+3), y(x+2), y(10))
		VUNPCKHPS(y(x+3), y(x+2), y(11))
		VUNPCKLPD(y(10), y(8), y(12))
		VUNPCKHPD(y(10), y(8), y(13))
		VUNPCKLPD(y(11), y(9), y(14))
		VUNPCKHPD(y(11), y(9), y(15))
		for j := range 4 {
			VMOVUPS(y(12+j), out[x+j])
		}
	}
}

// rowsFrom returns the addresses of 8 rows, a stride apart.
func rowsFrom(base, stride reg.GPVirtual) []Mem {
	var rows []Mem
	at := base
	for r := range 8 {
		if r > 0 && r%3 == 0 {
			next := GP64()
			LEAQ(Mem{Base: at, Index: stride, Scale: 2}, next)
			ADDQ(stride, next)
			at = next
		}
		row := Mem{Base: at}
		if r%3 > 0 {
			row.Index, row.Scale = stride, uint8(r%3)
		}
		rows = append(rows, row)
	}
	return rows
}
