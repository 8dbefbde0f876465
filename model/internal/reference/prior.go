package reference

import (
	"math"

	"tagnet/model/graph"
)

// Prior returns NB(o, q), the log of how much likelier the relations that leave o in g without a removal are at an answer to a query with q
// than at any entity, by the facts of a training graph; see package prior.
func Prior(training, g *graph.Graph, removal graph.Removal, o, q int32) float64 {
	own, sum := leaving(g, o, removal), 0.0
	for r := range int32(training.RelationCount()) {
		having := 0
		for e := range int32(training.Entities) {
			if leaving(training, e, graph.Removal{})[r] {
				having++
			}
		}
		asked, answered := 0, 0
		for answer := range int32(training.Entities) {
			senders, relations := training.In(answer)
			for i, source := range senders {
				if relations[i] != q {
					continue
				}
				asked++
				if leaving(training, answer, training.RemovalOf(source, q, answer))[r] {
					answered++
				}
			}
		}
		p := (float64(having) + 0.5) / float64(training.Entities+1)
		a := math.Min(1-1e-4, (float64(answered)+5*p)/(float64(asked)+5))
		p = math.Min(1-1e-4, p)
		if sum += math.Log((1 - a) / (1 - p)); own[r] {
			sum += math.Log(a/(1-a)) - math.Log(p/(1-p))
		}
	}
	return sum
}

// leaving returns the relations that leave o in the graph without a removal.
func leaving(g *graph.Graph, o int32, removal graph.Removal) map[int32]bool {
	own := map[int32]bool{}
	senders, relations := g.In(o)
	for i, r := range relations {
		if !removal.Removes(senders[i], r, o) {
			own[g.Inverse(r)] = true
		}
	}
	return own
}
