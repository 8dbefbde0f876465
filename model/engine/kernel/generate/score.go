package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// score writes the last layer of an MLP: for each row a bias plus the ReLU of the row times the weights.
func (m *machine) score() {
	m.function("score", "func(count, width int, values, hidden, output *float32, bias float32)",
		"is portable.Score for whole vectors.")
	values, hidden, output, count := pointer("values"), pointer("hidden"), pointer("output"), pointer("count")
	width, i := pointer("width"), GP64()
	zeroes, sum, x, bias := m.v(0), m.v(1), m.v(2), m.v(3)
	m.zero(zeroes)
	m.scalar("bias", bias)
	row, column, end := m.label("row"), m.label("column"), m.label("end")
	Label(row)
	TESTQ(count, count)
	JLE(LabelRef(end))
	m.zero(sum)
	XORQ(i, i)
	Label(column)
	VMOVUPS(Mem{Base: hidden, Index: i, Scale: 4}, x)
	VMAXPS(x, zeroes, x) // a NaN stays
	VFMADD231PS(Mem{Base: output, Index: i, Scale: 4}, x, sum)
	ADDQ(U8(m.floats()), i)
	CMPQ(i, width)
	JL(LabelRef(column))
	// The sum over the lanes, and the bias.
	m.total(sum, x)
	VADDSS(bias.AsX(), sum.AsX(), sum.AsX())
	VMOVSS(sum.AsX(), Mem{Base: values})
	ADDQ(U8(4), values)
	LEAQ(Mem{Base: hidden, Index: width, Scale: 4}, hidden)
	DECQ(count)
	JMP(LabelRef(row))
	Label(end)
	VZEROUPPER()
	RET()
}
