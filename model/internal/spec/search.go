package spec

import (
	"tagnet/formats/reach"
	"tagnet/model/graph"
)

// Distances returns the fewest edges from an entity to every other in the graph of a query, or
// reach.Unreached beyond a number of hops.
func Distances(g *graph.Graph, source int32, hops int, q graph.Query) []uint8 {
	return distances(g, source, hops, q, nil)
}

// distances is Distances among the entities inside a reach, nil for all.
func distances(g *graph.Graph, source int32, hops int, q graph.Query, inside []bool) []uint8 {
	distances := make([]uint8, g.Entities)
	for o := range distances {
		distances[o] = reach.Unreached
	}
	distances[source] = 0
	for hop := 1; hop <= hops; hop++ {
		for o := range distances {
			if distances[o] != reach.Unreached || inside != nil && !inside[o] {
				continue
			}
			senders, relations := g.In(int32(o))
			for i, u := range senders {
				if int(distances[u]) == hop-1 && !g.Removes(q, u, relations[i], int32(o)) {
					distances[o] = uint8(hop)
				}
			}
		}
	}
	return distances
}
