package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// setGradient has the terms that determine the gradients of a receiver's members, as the portable setGradient.
type setGradient struct {
	*gatherer
	level, slope, high, low, maximum, minimum []reg.VecPhysical
	message, gradient, scratch, other         reg.VecPhysical
}

// aggregateBackward writes the gradient of aggregate, over a stripe of columns.
func (m *machine) aggregateBackward(columns int) {
	// Gradients are added to rows in memory: a sender may occur again.
	m.function(fmt.Sprintf("aggregateBackward%d", columns),
		"func(count int, rows, featureRows, begins, ends, senders, relations *int32, last int, states, embeddings, byStates, byEmbeddings, byPrevious, "+
			"initial, second, degree, byDegree, copies, meanFactor, features, gradient *float32, stride int, smallestDeviation float32)",
		fmt.Sprintf("is portable.AggregateBackward for DistMult and PNA, over %d columns.", columns))
	g := m.newGatherer(columns)
	g.start()
	n := g.vectors
	s := &setGradient{gatherer: g,
		level: m.registers(0, n), slope: m.registers(n, n), high: m.registers(2*n, n), low: m.registers(3*n, n), maximum: m.registers(4*n, n),
		minimum: m.registers(5*n, n),
		message: m.v(6 * n), gradient: m.v(6*n + 1), scratch: m.v(6*n + 2), other: m.v(6*n + 3)}
	byStates, byEmbeddings := pointer("byStates"), pointer("byEmbeddings")
	g.prefetched = append(g.prefetched, byStates)
	g.eachReceiver(func() {
		s.start()
		g.withCopies(s.scratch, s.other, func(degree reg.GPVirtual) { s.degree(degree) })
		g.eachSender(func(sender, relation reg.GPVirtual) {
			for j := range n {
				VMOVUPS(g.indexed(g.states, sender, j), s.message)
				VMULPS(g.indexed(g.embeddings, relation, j), s.message, s.message)
				// The message's gradient: level + slope m, and a share of an extreme where m attains it.
				VMOVAPS(s.level[j], s.gradient)
				VFMADD231PS(s.message, s.slope[j], s.gradient)
				m.addWhereEqual(s.message, s.maximum[j], s.high[j], s.gradient, s.scratch, s.other)
				m.addWhereEqual(s.message, s.minimum[j], s.low[j], s.gradient, s.scratch, s.other)
				VMOVUPS(g.indexed(byStates, sender, j), s.scratch)
				VFMADD231PS(g.indexed(g.embeddings, relation, j), s.gradient, s.scratch)
				VMOVUPS(s.scratch, g.indexed(byStates, sender, j))
				VMOVUPS(g.indexed(byEmbeddings, relation, j), s.other)
				VFMADD231PS(g.indexed(g.states, sender, j), s.gradient, s.other)
				VMOVUPS(s.other, g.indexed(byEmbeddings, relation, j))
			}
		})
	})
}

// start adds the previous state's gradient, sets the terms, and gives the boundary the extremes
// that it attains. Go adds the boundary's gradient where there is one.
func (s *setGradient) start() {
	g, n := s.gatherer, s.vectors
	features, gradient := g.featureRow("features", g.stride, 5), g.featureRow("gradient", g.stride, 5)
	s.addPrevious(gradient)
	ADDQ(g.stride, features)
	ADDQ(g.stride, gradient)
	mean, byMean := GP64(), GP64()
	MOVQ(features, mean)
	MOVQ(gradient, byMean)
	// The features of a row are previous, mean, maximum, minimum and deviation.
	for _, v := range [][2][]reg.VecPhysical{{s.maximum, s.high}, {s.minimum, s.low}} {
		ADDQ(g.stride, features)
		ADDQ(g.stride, gradient)
		for j := range n {
			VMOVUPS(g.at(features, j), v[0][j])
			VMOVUPS(g.at(gradient, j), v[1][j])
		}
	}
	ADDQ(g.stride, features)
	ADDQ(g.stride, gradient)
	meanFactor := s.other
	g.broadcast("meanFactor", meanFactor)
	for j := range n {
		// slope = deviation > smallest ? byDeviation / deviation : 0
		VMOVUPS(g.at(features, j), s.message)
		VMOVUPS(g.at(gradient, j), s.slope[j])
		VDIVPS(s.message, s.slope[j], s.slope[j])
		smallest, err := Param("smallestDeviation").Resolve()
		if err != nil {
			panic(err)
		}
		VBROADCASTSS(smallest.Addr, s.scratch)
		g.keepWhere(notLessOrEqual, s.scratch, s.message, s.slope[j], s.scratch)
		VMOVUPS(g.at(byMean, j), s.level[j])
		VMOVUPS(g.at(mean, j), s.message)
		VFNMADD231PS(s.message, s.slope[j], s.level[j])
		VMULPS(meanFactor, s.level[j], s.level[j])
		VMULPS(meanFactor, s.slope[j], s.slope[j])
	}
	// The boundary takes an extreme that it attains; the messages have none of it then.
	for _, name := range []string{"initial", "second"} {
		at := pointer(name)
		for j := range n {
			VMOVUPS(g.at(at, j), s.message)
			g.keepWhere(notEqual, s.message, s.maximum[j], s.high[j], s.scratch)
			g.keepWhere(notEqual, s.message, s.minimum[j], s.low[j], s.scratch)
		}
	}
}

// addPrevious adds the gradient of the row's previous state, unless the table of those gradients is nil.
func (s *setGradient) addPrevious(gradient reg.GPVirtual) {
	g := s.gatherer
	none := g.label("none")
	previous := pointer("byPrevious")
	TESTQ(previous, previous)
	JZ(LabelRef(none))
	g.tableRow(previous, g.stride)
	for j := range s.vectors {
		VMOVUPS(g.at(previous, j), s.scratch)
		VADDPS(g.at(gradient, j), s.scratch, s.scratch)
		VMOVUPS(s.scratch, g.at(previous, j))
	}
	Label(none)
}

// degree propagates to the copies of the degree message, whose number is in scratch.
func (s *setGradient) degree(degree reg.GPVirtual) {
	g := s.gatherer
	by := pointer("byDegree")
	for j := range s.vectors {
		VMOVUPS(g.at(degree, j), s.message)
		VMOVAPS(s.level[j], s.gradient)
		VFMADD231PS(s.message, s.slope[j], s.gradient)
		g.broadcast("copies", s.scratch)
		VMULPS(s.scratch, s.gradient, s.gradient)
		s.addWhereEqual(s.message, s.maximum[j], s.high[j], s.gradient, s.scratch, s.other)
		s.addWhereEqual(s.message, s.minimum[j], s.low[j], s.gradient, s.scratch, s.other)
		VADDPS(g.at(by, j), s.gradient, s.gradient)
		VMOVUPS(s.gradient, g.at(by, j))
	}
}
