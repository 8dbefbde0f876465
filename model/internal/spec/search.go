package spec

import (
	"tagnet/formats/hop"
	"tagnet/model/graph"
)

// Distances returns the fewest edges from an entity to every other in the graph of a query, or
// hop.Unreached beyond a number of hops.
func Distances(g *graph.Graph, source int32, hops int, q graph.Query) []uint8 {
	return distances(g, source, hops, q, nil)
}

// distances is Distances among the entities inside a reach, nil for all.
func distances(g *graph.Graph, source int32, hops int, q graph.Query, inside []bool) []uint8 {
	distances := make([]uint8, g.Entities)
	for o := range distances {
		distances[o] = hop.Unreached
	}
	distances[source] = 0
	for at := 1; at <= hops; at++ {
		for o := range distances {
			if distances[o] != hop.Unreached || inside != nil && !inside[o] {
				continue
			}
			senders, relations := g.In(int32(o))
			for i, u := range senders {
				if int(distances[u]) == at-1 && !g.Removes(q, u, relations[i], int32(o)) {
					distances[o] = uint8(at)
				}
			}
		}
	}
	return distances
}
