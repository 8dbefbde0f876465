package reference

import "tagnet/model/graph"

// Unreached is the distance of an entity that no path of at most T edges reaches.
const Unreached = 255

// Distances returns the fewest edges from the source to every entity without the removed edges, or
// Unreached beyond a number of hops.
func Distances(g *graph.Graph, source int32, hops int, removal graph.Removal) []uint8 {
	distances := make([]uint8, g.Entities)
	for o := range distances {
		distances[o] = Unreached
	}
	distances[source] = 0
	for hop := 1; hop <= hops; hop++ {
		for o := range distances {
			if distances[o] != Unreached {
				continue
			}
			senders, relations := g.In(int32(o))
			for i, u := range senders {
				if int(distances[u]) == hop-1 && !removal.Removes(u, relations[i], int32(o)) {
					distances[o] = uint8(hop)
				}
			}
		}
	}
	return distances
}
