package rules

import "tagnet/model/graph"

const (
	// leastHeads is the least number of heads with an answer for a direction to be nearly functional.
	leastHeads = 20
	// Several is the share of heads with two tails and more below which it is.
	Several = .03
)

// Functional reports for each relation, inverse ones included, whether it is nearly functional: at least 20 heads have
// a tail, and fewer than 3% of these two or more.
func Functional(g *graph.Graph) []bool {
	heads, more := make([]int, g.RelationCount()), make([]int, g.RelationCount())
	counts := make([]int32, g.RelationCount())
	for head := range int32(g.Entities) {
		_, entering := g.In(head)
		for _, r := range entering {
			switch counts[r]++; counts[r] {
			case 1:
				heads[g.Inverse(r)]++
			case 2:
				more[g.Inverse(r)]++
			}
		}
		for _, r := range entering {
			counts[r] = 0
		}
	}
	functional := make([]bool, g.RelationCount())
	for r, n := range heads {
		functional[r] = n >= leastHeads && float64(more[r]) < Several*float64(n)
	}
	return functional
}
