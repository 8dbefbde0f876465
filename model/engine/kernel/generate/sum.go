package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

// sum writes the reduction to the sum of products, over a stripe of columns. It rounds every product and every sum, as
// portable does, so its results have the same bits.
func (m *machine) sum(columns int) {
	m.function(fmt.Sprintf("sum%d", columns), "func(count int, rows, featureRows, begins, ends, senders, relations *int32, last int, states, embeddings, "+
		"previous *float32, previousStride int, initial, degree, copies, features *float32, stride int)",
		fmt.Sprintf("is portable.Aggregate for DistMult and Sum, over %d columns.", columns))
	g := m.newGatherer(columns)
	g.start()
	n := g.vectors
	sums, x, other := m.registers(0, n), m.v(n), m.v(n+1)
	g.eachReceiver(func() {
		initial := pointer("initial")
		for j, sum := range sums {
			VMOVUPS(g.at(initial, j), sum)
		}
		g.withCopies(other, x, func(degree reg.GPVirtual) {
			for j, sum := range sums {
				VMULPS(g.at(degree, j), other, x)
				VADDPS(x, sum, sum)
			}
		})
		g.eachSender(func(sender, relation reg.GPVirtual) {
			for j, sum := range sums {
				x := []reg.VecPhysical{x, other}[j%2]
				VMOVUPS(g.indexed(g.states, sender, j), x)
				VMULPS(g.indexed(g.embeddings, relation, j), x, x)
				VADDPS(x, sum, sum)
			}
		})
		// The features of a row are its previous state and the sum.
		row, previous := g.featureRow("features", g.stride, 2), pointer("previous")
		g.tableRow(previous, pointer("previousStride"))
		for j := range n {
			VMOVUPS(g.at(previous, j), x)
			VMOVUPS(x, g.at(row, j))
		}
		ADDQ(g.stride, row)
		for j, sum := range sums {
			VMOVUPS(sum, g.at(row, j))
		}
	})
}
