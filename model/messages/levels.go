package messages

import (
	"tagnet/model/configuration"
	"tagnet/model/graph"
)

// Levels is what the counts of a source need: how its graph's edges lie to the levels of
// distance from the source. It is comparable: sources with equal Levels have equal counts.
type Levels struct {
	// Edges is the number E of edges in all, reciprocals included.
	Edges int64
	// Between[D] is the number of edges from level D-1 to level D; as many lead back. Between[0] is 0.
	Between [configuration.MaxLayers + 1]int64
	// Within[D] is the number of edges whose two ends are on level D.
	Within [configuration.MaxLayers + 1]int64
}

// CountLevels gathers the levels of a search: distances holds, for each of the V entities, the
// hops from the source, and more than hops (255) where it was not reached. Layer then serves
// every number of layers up to hops, which is at most configuration.MaxLayers.
func CountLevels(g *graph.Graph, distances []uint8, hops int) Levels {
	hops = min(hops, configuration.MaxLayers)
	l := Levels{Edges: g.Edges()}
	// Siblings and parents in one table, read without a branch: index 1 is the sender on the
	// same level, 0 the one before, and 2 all else.
	for o, distance := range distances {
		if int(distance) > hops {
			continue
		}
		var counts [3]int64
		for _, u := range g.Senders[g.Offsets[o]:g.Offsets[o+1]] {
			counts[min(distances[u]-distance+1, 2)]++
		}
		if distance > 0 { // an unreached sender of the source itself falls on index 0 too
			l.Between[distance] += counts[0]
		}
		l.Within[distance] += counts[1]
	}
	return l
}

// Without is the levels of the graph without what a removal takes away, for one that changes
// no distance (search.Searcher.Keeps tells). Where distances change, search and count anew,
// with CountLevelsWithout.
func (l Levels) Without(g *graph.Graph, removal graph.Removal) Levels {
	if !removal.Active {
		return l
	}
	removed := int64(0) // edges that enter the answer
	senders, relations := g.In(removal.Answer)
	for i, u := range senders {
		if removal.Removes(u, relations[i], removal.Answer) {
			removed++
		}
	}
	if removal.Source == removal.Answer {
		l.Edges -= removed
		l.Within[0] -= removed
		return l
	}
	l.Edges -= 2 * removed // each with its reciprocal
	l.Between[1] -= removed
	return l
}

// CountLevelsWithout is CountLevels for the graph without what a removal takes away; the
// distances are those of that graph.
func CountLevelsWithout(g *graph.Graph, distances []uint8, hops int, removal graph.Removal) Levels {
	l := CountLevels(g, distances, hops)
	if !removal.Active {
		return l
	}
	ends := []int32{removal.Source, removal.Answer}
	if removal.Source == removal.Answer {
		ends = ends[:1]
	}
	for _, o := range ends {
		senders, relations := g.In(o)
		for i, u := range senders {
			if !removal.Removes(u, relations[i], o) {
				continue
			}
			l.Edges--
			if int(distances[o]) > min(hops, configuration.MaxLayers) {
				continue
			}
			switch int(distances[o]) - int(distances[u]) {
			case 0:
				l.Within[distances[o]]--
			case 1:
				l.Between[distances[o]]--
			}
		}
	}
	return l
}
