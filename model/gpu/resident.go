package gpu

import (
	"math"
	"slices"
	"sort"

	"tagnet/model/graph"
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
	edges := byRelation(g)
	b.Offsets, b.Senders, b.Relations = place(m, offsets), place(m, edges.senders), place(m, edges.relations)
	b.Heavy, b.HeavyCount = place(m, heavy), int32(len(heavy))
	b.Scales = place(m, e.scales())
	if e.training {
		e.placeLinks(edges)
	}
}

// adjacency has the edges of a graph by receiver, then relation, then sender: the messages of a relation lie together.
type adjacency struct {
	*graph.Graph
	senders, relations []int32
}

func byRelation(g *graph.Graph) adjacency {
	a := adjacency{g, slices.Clone(g.Senders), slices.Clone(g.Relations)}
	for o := range int32(g.Entities) {
		begin, end := g.Offsets[o], g.Offsets[o+1]
		sort.Stable(relationOrder{a.senders[begin:end], a.relations[begin:end]}) // they are ordered by sender
	}
	return a
}

// relationOrder sorts edges by relation.
type relationOrder struct{ senders, relations []int32 }

func (r relationOrder) Len() int           { return len(r.senders) }
func (r relationOrder) Less(i, j int) bool { return r.relations[i] < r.relations[j] }
func (r relationOrder) Swap(i, j int) {
	r.senders[i], r.senders[j] = r.senders[j], r.senders[i]
	r.relations[i], r.relations[j] = r.relations[j], r.relations[i]
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

// reverse returns the index of every edge's inverse.
func (a adjacency) reverse() []int32 {
	reverse := make([]int32, len(a.senders))
	for o := range int32(a.Entities) {
		for edge := a.Offsets[o]; edge < a.Offsets[o+1]; edge++ {
			u, inverse := a.senders[edge], a.Inverse(a.relations[edge])
			begin, end := a.Offsets[u], a.Offsets[u+1]
			reverse[edge] = int32(begin) + int32(sort.Search(int(end-begin), func(i int) bool {
				r := a.relations[begin+int64(i)]
				return r > inverse || r == inverse && a.senders[begin+int64(i)] >= o
			}))
		}
	}
	return reverse
}

// placeLinks puts what training reads of an edge on the device. It numbers the edges by the relation of their inverse, and cuts each
// relation's into pieces that a warp sums.
func (e *engine) placeLinks(a adjacency) {
	begin := make([]int32, a.RelationCount()+1)
	for _, r := range a.relations {
		begin[a.Inverse(r)+1]++
	}
	var pieceBegin []int32
	pieces := make([]int32, a.RelationCount()+1)
	for r := range a.RelationCount() {
		begin[r+1] += begin[r]
		for from := begin[r]; from < begin[r+1]; from += pieceSlots {
			pieceBegin = append(pieceBegin, from)
		}
		pieces[r+1] = int32(len(pieceBegin))
	}
	links, reverse := make([]link, len(a.relations)), a.reverse()
	for edge, r := range a.relations {
		inverse := a.Inverse(r)
		links[edge] = link{a.senders[edge], inverse, reverse[edge], begin[inverse]}
		begin[inverse]++
	}
	b, m := &e.batch, &e.memory
	b.Pieces = int32(len(pieceBegin))
	b.Links, b.PieceBegin, b.RelationPieces = place(m, links), place(m, append(pieceBegin, int32(len(links)))), place(m, pieces)
}
