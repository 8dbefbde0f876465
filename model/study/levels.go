package study

import (
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// Levels counts the edges of a graph between and inside the levels of distance from a source. It is
// comparable: sources with equal Levels have equal Counts.
type Levels struct {
	// Edges is the number E of all edges, inverses included.
	Edges int64
	// Between[D] is the number of edges from level D-1 to level D, and also from D to D-1. Between[0] is 0.
	Between [configuration.MaxLayers + 1]int64
	// Within[D] is the number of edges with both ends on level D.
	Within [configuration.MaxLayers + 1]int64
}

// CountLevels counts the levels of a search: distances, [V], has the hops from the source to every
// entity, and more than hops (255) where it was not reached. hops above configuration.MaxLayers are
// taken as that.
func CountLevels(g *graph.Graph, distances []uint8, hops int) Levels {
	hops = min(hops, configuration.MaxLayers)
	l := Levels{Edges: g.Edges()}
	// Counted without a branch: index 0 is a sender on the level before, 1 one on the same level, and 2 any other.
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

// Plus returns the sum of the levels of two queries, or of two such sums. Its counts are the sums of theirs.
func (l Levels) Plus(m Levels) Levels {
	l.Edges += m.Edges
	for distance := range l.Between {
		l.Between[distance] += m.Between[distance]
		l.Within[distance] += m.Within[distance]
	}
	return l
}

// Times returns the sum of the levels of n queries with levels l each.
func (l Levels) Times(n int64) Levels {
	l.Edges *= n
	for distance := range l.Between {
		l.Between[distance] *= n
		l.Within[distance] *= n
	}
	return l
}
