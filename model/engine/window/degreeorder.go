package window

import (
	"cmp"
	"slices"

	"tagnet/model/graph"
	"tagnet/model/parallel"
)

// degreeOrder is a graph whose entities are renumbered by ascending degree, ties by id: an entity's
// number is its rank. Entities that share a degree become neighbors, and so do the hubs that
// nearly every search reads. Layouts of one graph share it.
type degreeOrder struct {
	entities []int32 // by rank
	ranks    []int32 // by entity
	degrees  []int32 // by rank

	// The edges by receiver, in the graph's order, with ranks for entities.
	offsets            []int64
	senders, relations []int32
	most               int // edges of a receiver
}

// fill orders a graph. It reuses the arrays.
func (r *degreeOrder) fill(g *graph.Graph) {
	n := g.Entities
	r.entities, r.ranks, r.degrees = parallel.Resize(r.entities, n), parallel.Resize(r.ranks, n), parallel.Resize(r.degrees, n)
	r.offsets = parallel.Resize(r.offsets, n+1)
	r.senders, r.relations = parallel.Resize(r.senders, int(g.Edges()))[:0], parallel.Resize(r.relations, int(g.Edges()))[:0]
	r.offsets[0], r.most = 0, 0
	for o := range r.entities {
		r.entities[o] = int32(o)
	}
	slices.SortFunc(r.entities, func(u, v int32) int {
		return cmp.Or(cmp.Compare(g.Degree(u), g.Degree(v)), cmp.Compare(u, v))
	})
	for i, o := range r.entities {
		r.ranks[o], r.degrees[i] = int32(i), int32(g.Degree(o))
	}
	for i, o := range r.entities {
		senders, relations := g.In(o)
		for _, u := range senders {
			r.senders = append(r.senders, r.ranks[u])
		}
		r.relations = append(r.relations, relations...)
		r.offsets[i+1] = int64(len(r.senders))
		r.most = max(r.most, len(senders))
	}
}

// in returns the senders, as ranks, and the relations of the edges into the entity of a rank.
func (r *degreeOrder) in(rank int32) (senders, relations []int32) {
	from, to := r.offsets[rank], r.offsets[rank+1]
	return r.senders[from:to], r.relations[from:to]
}
