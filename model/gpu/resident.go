package gpu

import (
	"math"
	"unsafe"
)

// placeGraph puts on the device what depends on the graph alone.
func (e *engine) placeGraph() {
	g, b, m := e.graph, &e.batch, &e.memory
	offsets := make([]int32, len(g.Offsets))
	for i, offset := range g.Offsets {
		offsets[i] = int32(offset)
	}
	var heavy []int32
	for o := range int32(g.Entities) {
		if g.Degree(o) > heavyDegree {
			heavy = append(heavy, o)
		}
	}
	b.Offsets, b.Senders, b.Relations = place(m, offsets), place(m, g.Senders), place(m, g.Relations)
	b.Heavy, b.HeavyCount = place(m, heavy), int32(len(heavy))
	b.Scales = place(m, e.scales())
	if !e.training {
		return
	}
	b.Reverse = place(m, e.reverse())
	e.placeRelations()
}

// scales returns what depends on an entity's degree, by degree.
func (e *engine) scales() []scale {
	scales := make([]scale, e.graph.HighestDegree()+1)
	for degree := range scales {
		c := math.Log(float64(degree)+1) / e.graph.MeanLogDegree
		if e.graph.MeanLogDegree == 0 { // without edges every scaler is 0 / 0, of zeros
			c = 0
		}
		scales[degree] = scale{Divisor: 1 / (float32(degree) + 1), Up: float32(c), Down: float32(1 / max(c, 0.01))}
	}
	return scales
}

// reverse returns the index of every edge's inverse. Both receivers list their edges by sender, then relation.
func (e *engine) reverse() []int32 {
	g := e.graph
	reverse := make([]int32, len(g.Senders))
	for o := range int32(g.Entities) {
		for edge := g.Offsets[o]; edge < g.Offsets[o+1]; edge++ {
			u, inverse := g.Senders[edge], g.Inverse(g.Relations[edge])
			low, high := g.Offsets[u], g.Offsets[u+1]
			for low < high {
				middle := (low + high) / 2
				if s := g.Senders[middle]; s < o || s == o && g.Relations[middle] < inverse {
					low = middle + 1
				} else {
					high = middle
				}
			}
			reverse[edge] = int32(low)
		}
	}
	return reverse
}

// placeRelations lists the edges by relation, in pieces that a warp sums.
func (e *engine) placeRelations() {
	g, b, m := e.graph, &e.batch, &e.memory
	begin := make([]int32, g.RelationCount()+1)
	for _, r := range g.Relations {
		begin[r+1]++
	}
	var pieceBegin []int32
	pieces := make([]int32, g.RelationCount()+1)
	for r := range g.RelationCount() {
		begin[r+1] += begin[r]
		for from := begin[r]; from < begin[r+1]; from += relationPart {
			pieceBegin = append(pieceBegin, from)
		}
		pieces[r+1] = int32(len(pieceBegin))
	}
	edges, receivers := make([]int32, len(g.Relations)), make([]int32, len(g.Relations))
	next := append([]int32(nil), begin...)
	for o := range int32(g.Entities) {
		for edge := g.Offsets[o]; edge < g.Offsets[o+1]; edge++ {
			r := g.Relations[edge]
			edges[next[r]], receivers[next[r]] = int32(edge), o
			next[r]++
		}
	}
	b.Pieces = int32(len(pieceBegin))
	b.RelationEdges, b.RelationReceivers = place(m, edges), place(m, receivers)
	b.PieceBegin, b.RelationPieces = place(m, append(pieceBegin, int32(len(edges)))), place(m, pieces)
}

// bytesOf returns the memory of values without pointers.
func bytesOf[T any](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
}
