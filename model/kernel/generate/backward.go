package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// shares are what a receiver's members get of its gradient, as in portable's shares.
type shares struct {
	*gatherer
	level, slope, high, low, maximum, minimum []reg.VecPhysical
	message, gradient, scratch, other         reg.VecPhysical
}

// aggregateBackward writes the gradient of aggregate, over a stripe of columns.
func (m *machine) aggregateBackward(columns int) {
	name := fmt.Sprintf("aggregateBackward%d%s", columns, m.suffix)
	TEXT(name, NOSPLIT, "func(count int, rows, at, bounds, ends, senders, relations *int32, last int, states, embeddings, byStates, byEmbeddings, byOwn, initial, second, degree, byDegree, copies, divisor, features, gradient *float32, stride int, smallestDeviation float32)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is portable.AggregateBackward for DistMult and PNA, over %d columns.", name, columns))
	g := m.newGatherer(columns)
	g.start()
	n := g.vectors
	s := &shares{gatherer: g,
		level: m.run(0, n), slope: m.run(n, n), high: m.run(2*n, n), low: m.run(3*n, n), maximum: m.run(4*n, n), minimum: m.run(5*n, n),
		message: m.v(6 * n), gradient: m.v(6*n + 1), scratch: m.v(6*n + 2), other: m.v(6*n + 3)}
	byStates, byEmbeddings := pointer("byStates"), pointer("byEmbeddings")
	g.fetched = append(g.fetched, byStates)
	g.eachReceiver(func() {
		s.start()
		g.withCopies(s.scratch, s.other, func(degree reg.GPVirtual) { s.degree(degree) })
		g.eachSender(func(sender, relation reg.GPVirtual) {
			for j := range n {
				VMOVUPS(g.at(g.states, sender, j), s.message)
				VMULPS(g.at(g.embeddings, relation, j), s.message, s.message)
				VMOVAPS(s.level[j], s.gradient)
				VFMADD231PS(s.message, s.slope[j], s.gradient)
				m.takeWhereEqual(s.message, s.maximum[j], s.high[j], s.gradient, s.scratch, s.other)
				m.takeWhereEqual(s.message, s.minimum[j], s.low[j], s.gradient, s.scratch, s.other)
				VMOVUPS(g.at(byStates, sender, j), s.scratch)
				VFMADD231PS(g.at(g.embeddings, relation, j), s.gradient, s.scratch)
				VMOVUPS(s.scratch, g.at(byStates, sender, j))
				VMOVUPS(g.at(byEmbeddings, relation, j), s.other)
				VFMADD231PS(g.at(g.states, sender, j), s.gradient, s.other)
				VMOVUPS(s.other, g.at(byEmbeddings, relation, j))
			}
		})
	})
}

// start adds the own state's gradient, sets the shares, and lets the boundary take its own,
// which Go adds where somebody wants it.
func (s *shares) start() {
	g, n := s.gatherer, s.vectors
	features, gradient := g.featureRow("features", g.stride), g.featureRow("gradient", g.stride)
	s.addOwn(gradient)
	ADDQ(g.stride, features)
	ADDQ(g.stride, gradient)
	mean, byMean := GP64(), GP64()
	MOVQ(features, mean)
	MOVQ(gradient, byMean)
	for _, v := range [][2][]reg.VecPhysical{{s.maximum, s.high}, {s.minimum, s.low}} {
		ADDQ(g.stride, features)
		ADDQ(g.stride, gradient)
		for j := range n {
			VMOVUPS(g.part(features, j), v[0][j])
			VMOVUPS(g.part(gradient, j), v[1][j])
		}
	}
	ADDQ(g.stride, features)
	ADDQ(g.stride, gradient)
	divisor := s.other
	g.broadcast("divisor", divisor)
	for j := range n {
		// slope = deviation > smallest ? byDeviation / deviation : 0
		VMOVUPS(g.part(features, j), s.message)
		VMOVUPS(g.part(gradient, j), s.slope[j])
		VDIVPS(s.message, s.slope[j], s.slope[j])
		smallest, err := Param("smallestDeviation").Resolve()
		if err != nil {
			panic(err)
		}
		VBROADCASTSS(smallest.Addr, s.scratch)
		g.keepWhere(notLessOrEqual, s.scratch, s.message, s.slope[j], s.scratch)
		VMOVUPS(g.part(byMean, j), s.level[j])
		VMOVUPS(g.part(mean, j), s.message)
		VFNMADD231PS(s.message, s.slope[j], s.level[j])
		VMULPS(divisor, s.level[j], s.level[j])
		VMULPS(divisor, s.slope[j], s.slope[j])
	}
	for _, name := range []string{"initial", "second"} {
		at := pointer(name)
		for j := range n {
			VMOVUPS(g.part(at, j), s.message)
			g.keepWhere(notEqual, s.message, s.maximum[j], s.high[j], s.scratch)
			g.keepWhere(notEqual, s.message, s.minimum[j], s.low[j], s.scratch)
		}
	}
}

func (s *shares) addOwn(gradient reg.GPVirtual) {
	g := s.gatherer
	none := g.label("none")
	own := pointer("byOwn")
	TESTQ(own, own)
	JZ(LabelRef(none))
	g.tableRow(own, g.stride)
	for j := range s.vectors {
		VMOVUPS(g.part(own, j), s.scratch)
		VADDPS(g.part(gradient, j), s.scratch, s.scratch)
		VMOVUPS(s.scratch, g.part(own, j))
	}
	Label(none)
}

// degree lets the copies of the degree message, counted in scratch, take their share.
func (s *shares) degree(degree reg.GPVirtual) {
	g := s.gatherer
	by := pointer("byDegree")
	for j := range s.vectors {
		VMOVUPS(g.part(degree, j), s.message)
		VMOVAPS(s.level[j], s.gradient)
		VFMADD231PS(s.message, s.slope[j], s.gradient)
		g.broadcast("copies", s.scratch)
		VMULPS(s.scratch, s.gradient, s.gradient)
		s.takeWhereEqual(s.message, s.maximum[j], s.high[j], s.gradient, s.scratch, s.other)
		s.takeWhereEqual(s.message, s.minimum[j], s.low[j], s.gradient, s.scratch, s.other)
		VADDPS(g.part(by, j), s.gradient, s.gradient)
		VMOVUPS(s.gradient, g.part(by, j))
	}
}
