package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// peakSums is how many sums peak adds to in turn: more than fused additions take cycles,
// times those that begin in one.
const peakSums = 12

// peak writes a loop of nothing but fused additions, to measure what there is to reach.
func (m *machine) peak() {
	TEXT("peak"+m.suffix, NOSPLIT, "func(rounds int)")
	Doc("peak" + m.suffix + " makes twelve fused additions of whole vectors a round.")
	rounds := pointer("rounds")
	x := m.v(peakSums)
	m.zero(x)
	for i := range peakSums {
		m.zero(m.v(i))
	}
	next, end := m.label("next"), m.label("end")
	Label(next)
	TESTQ(rounds, rounds)
	JLE(LabelRef(end))
	for i := range peakSums {
		VFMADD231PS(x, x, m.v(i))
	}
	DECQ(rounds)
	JMP(LabelRef(next))
	Label(end)
	VZEROUPPER()
	RET()
}
