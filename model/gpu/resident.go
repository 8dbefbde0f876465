package gpu

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"tagnet/model/graph"
	"tagnet/model/parallel"
)

// placeEdges copies the edges of the graph to the device.
func (e *engine) placeEdges() {
	g, m, b := e.graph, &e.memory, &e.batch
	offsets := make([]int32, len(g.Offsets))
	for i, offset := range g.Offsets {
		offsets[i] = int32(offset)
	}
	order := byDegree(g)
	heavy := sort.Search(len(order), func(i int) bool { return g.Degree(order[i]) <= heavyDegree })
	senders, relations := byRelation(g)
	b.Offsets, b.Senders, b.Relations = place(m, offsets), place(m, senders), place(m, relations)
	b.Order, b.HeavyCount = place(m, order), int32(heavy)
	b.Scales = place(m, scales(g))
}

// byDegree returns the entities by their number of edges, most first.
func byDegree(g *graph.Graph) []int32 {
	order := parallel.Indices[int32](g.Entities)
	slices.SortStableFunc(order, func(o, u int32) int { return cmp.Compare(g.Degree(u), g.Degree(o)) })
	return order
}

// byRelation returns the edges of a graph by receiver, then relation, then sender: the messages of a relation lie
// together. In the graph they are ordered by sender for each receiver and relation, so two stable distributions order
// them, by relation and then by receiver.
func byRelation(g *graph.Graph) (senders, relations []int32) {
	type ends struct{ sender, receiver int32 }
	byRelation, next := make([]ends, g.Edges()), begins(g.Relations, g.RelationCount())
	for o := range int32(g.Entities) {
		for edge := g.Offsets[o]; edge < g.Offsets[o+1]; edge++ {
			r := g.Relations[edge]
			byRelation[next[r]] = ends{g.Senders[edge], o}
			next[r]++
		}
	}
	senders, relations = make([]int32, g.Edges()), make([]int32, g.Edges())
	to, r := slices.Clone(g.Offsets), int32(0)
	for i, e := range byRelation {
		for next[r] == int32(i) { // which is the end of r by now
			r++
		}
		at := to[e.receiver]
		to[e.receiver]++
		senders[at], relations[at] = e.sender, r
	}
	return senders, relations
}

// begins returns where each of the keys 0 to count-1 begins in a list that is ordered by them, and the end.
func begins(keys []int32, count int) []int32 {
	begin := make([]int32, count+1)
	for _, key := range keys {
		begin[key+1]++
	}
	for key := range count {
		begin[key+1] += begin[key]
	}
	return begin
}

// scales returns the scalers of each degree.
func scales(g *graph.Graph) []scale {
	scales := make([]scale, g.HighestDegree()+1)
	for degree := range scales {
		c := math.Log(float64(degree)+1) / g.MeanLogDegree
		if g.MeanLogDegree == 0 { // without edges every scaler is 0 / 0, of zeros
			c = 0
		}
		scales[degree] = scale{Divisor: 1 / (float32(degree) + 1), Up: float32(c), Down: float32(1 / max(c, 0.01))}
	}
	return scales
}

// inverse returns the inverse of a relation, the relation of an edge's inverse edge.
type inverse func(relation int32) int32

// placeLinks copies the links between edges to the device, which training also reads. It cuts each relation's slots
// into pieces that a warp sums.
func (e *engine) placeLinks() {
	g, m, b := e.graph, &e.memory, &e.batch
	links, begin := linksOf(g, e.inverse)
	var pieceBegin []int32
	pieces := make([]int32, len(begin))
	for r := range g.RelationCount() {
		for from := begin[r]; from < begin[r+1]; from += pieceSlots {
			pieceBegin = append(pieceBegin, from)
		}
		pieces[r+1] = int32(len(pieceBegin))
	}
	b.Pieces = int32(len(pieceBegin))
	b.Links, b.PieceBegin, b.RelationPieces = place(m, links), place(m, append(pieceBegin, int32(len(links)))), place(m, pieces)
}

// linksOf returns the links of the edges, in the order of byRelation, and the first slot of each relation, and the
// end. Slots number the edges by the relation of their inverse. Edges by sender, then relation of the inverse, then
// receiver are the inverses of those by receiver, relation and sender: to distribute slots by sender gives the
// index of each inverse.
func linksOf(g *graph.Graph, inverse inverse) (links []link, begin []int32) {
	senders, relations := byRelation(g)
	for i, r := range relations {
		relations[i] = inverse(r)
	}
	begin = begins(relations, g.RelationCount())
	links, next := make([]link, len(senders)), slices.Clone(begin)
	bySlot := make([]int32, len(senders))
	for edge, inverse := range relations {
		slot := next[inverse]
		next[inverse]++
		links[edge] = link{Sender: senders[edge], Inverse: inverse, Slot: slot}
		bySlot[slot] = int32(edge)
	}
	to := slices.Clone(g.Offsets)
	for _, edge := range bySlot {
		sender := links[edge].Sender
		links[edge].Reverse = int32(to[sender])
		to[sender]++
	}
	return links, begin
}
