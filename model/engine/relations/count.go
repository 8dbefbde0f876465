package relations

import (
	"math/bits"

	"tagnet/model/graph"
)

// CountEdges returns the number of edges of the relation graph of g without making it. It takes up to bytes of memory for rows of
// bits, or what one row takes if that is more, and reads g as often as it needs for all rows.
func CountEdges(g *graph.Graph, bytes int64) int64 {
	n := g.RelationCount()
	words := (n + 63) / 64
	rows := int(min(int64(n), max(1, bytes/int64(8*max(1, words)))))
	met, meets := make([]uint64, rows*words), int64(0)
	for first := 0; first < n; first += rows {
		clear(met)
		eachLeaving(g, func(leaving []int32) {
			for _, a := range leaving {
				at := int(a) - first
				if at < 0 || at >= rows {
					continue
				}
				row := met[at*words : (at+1)*words]
				for _, b := range leaving {
					row[b>>6] |= 1 << (b & 63)
				}
			}
		})
		for _, word := range met {
			meets += int64(bits.OnesCount64(word))
		}
	}
	return types * meets
}

// eachLeaving calls each with the relations that leave an entity, each once, for every entity of g.
func eachLeaving(g *graph.Graph, each func(leaving []int32)) {
	var leaving []int32
	seen := make([]bool, g.RelationCount())
	for u := range int32(g.Entities) {
		_, entering := g.In(u)
		leaving = leaving[:0]
		for _, r := range entering {
			if r = g.Inverse(r); !seen[r] { // every edge that enters has an inverse that leaves
				seen[r] = true
				leaving = append(leaving, r)
			}
		}
		each(leaving)
		for _, r := range leaving {
			seen[r] = false
		}
	}
}
