package relations

import (
	"fmt"
	"math"
	"math/bits"

	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// collectBytes is the memory in which edges are counted and collected.
const collectBytes = 16 << 20

// GraphOf returns the relation graph of a graph, which CountEdges has found small enough. It takes 16 MiB meanwhile.
func GraphOf(g *graph.Graph) *Graph { return graphIn(g, collectBytes) }

// CountEdges returns the number of edges of the relation graph of g, without making it, or 0 if a model of
// configuration c needs none. More edges than kernels can count are an error. It takes 16 MiB.
func CountEdges(g *graph.Graph, c configuration.Configuration) (int64, error) {
	if !c.Transfers() {
		return 0, nil
	}
	edges := edgesIn(g, collectBytes)
	if edges > math.MaxInt32 {
		return edges, fmt.Errorf("the relation graph of %d relations has %d edges, more than the %d that can be propagated along", g.RelationCount(), edges,
			math.MaxInt32)
	}
	return edges, nil
}

// graphIn is GraphOf that takes up to bytes of memory for rows of bits.
func graphIn(g *graph.Graph, bytes int64) *Graph {
	between := &Graph{relations: g.RelationCount(), offsets: append(make([]int, 0, g.RelationCount()+1), 0)}
	collect(g, bytes, func(row []uint64) {
		for i, word := range row {
			for ; word != 0; word &= word - 1 {
				between.meets = append(between.meets, int32(64*i+bits.TrailingZeros64(word)))
			}
		}
		between.offsets = append(between.offsets, len(between.meets))
	})
	return between
}

// edgesIn counts the edges with up to bytes of memory for rows of bits.
func edgesIn(g *graph.Graph, bytes int64) (edges int64) {
	collect(g, bytes, func(row []uint64) {
		for _, word := range row {
			edges += types * int64(bits.OnesCount64(word))
		}
	})
	return edges
}

// collect calls each for every relation of g, in order, with a bit for each relation that it meets. It takes
// up to bytes of memory for rows of bits, or what one row takes if that is more, and reads g as often as it
// needs for all rows.
func collect(g *graph.Graph, bytes int64, each func(row []uint64)) {
	n := g.RelationCount()
	words := (n + 63) / 64
	rows := int(min(int64(n), max(1, bytes/int64(8*max(1, words)))))
	met := make([]uint64, rows*words)
	row := func(i int) []uint64 { return met[i*words : (i+1)*words] }
	for first := 0; first < n; first += rows {
		clear(met)
		eachLeaving(g, func(leaving []int32) {
			for _, a := range leaving {
				if at := int(a) - first; at >= 0 && at < rows {
					meets := row(at)
					for _, b := range leaving {
						meets[b>>6] |= 1 << (b & 63)
					}
				}
			}
		})
		for i := range min(rows, n-first) {
			each(row(i))
		}
	}
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
