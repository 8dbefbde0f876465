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

// Plus is the levels of two queries, or of two sums of such, in one: the counts that follow
// from it are the sums of theirs.
func (l Levels) Plus(m Levels) Levels {
	l.Edges += m.Edges
	for distance := range l.Between {
		l.Between[distance] += m.Between[distance]
		l.Within[distance] += m.Within[distance]
	}
	return l
}

// Times is the sum of the levels of n queries that are alike.
func (l Levels) Times(n int64) Levels {
	l.Edges *= n
	for distance := range l.Between {
		l.Between[distance] *= n
		l.Within[distance] *= n
	}
	return l
}
