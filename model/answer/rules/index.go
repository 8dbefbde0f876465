package rules

import (
	"slices"

	"tagnet/model/graph"
)

// index has the edges of a graph in the order in which paths follow them, without those from an entity to itself, which
// are on no path. Memory: 16 bytes an edge.
type index struct {
	*graph.Graph
	// The edges that leave v are offsets[v] to offsets[v+1], by relation and end.
	offsets         []int64
	relations, ends []int32
	// heads are the entities that each relation leaves, ascending, and then all entities; facts is the number of edges.
	heads [][]int32
	facts []int
}

// newIndex sorts the edges of a graph.
func newIndex(g *graph.Graph) *index {
	all := g.RelationCount()
	x := &index{Graph: g, offsets: make([]int64, g.Entities+1), heads: make([][]int32, all+1), facts: make([]int, all)}
	x.relations, x.ends = make([]int32, 0, g.Edges()), make([]int32, 0, g.Edges())
	var keys []uint64
	for v := range int32(g.Entities) {
		keys = keys[:0]
		senders, entering := g.In(v)
		for i, sender := range senders {
			if sender != v {
				keys = append(keys, uint64(g.Inverse(entering[i]))<<32|uint64(sender))
			}
		}
		slices.Sort(keys)
		for i, k := range keys {
			r := int32(k >> 32)
			x.relations, x.ends = append(x.relations, r), append(x.ends, int32(uint32(k)))
			if x.facts[r]++; i == 0 || int32(keys[i-1]>>32) != r {
				x.heads[r] = append(x.heads[r], v)
			}
		}
		x.offsets[v+1] = int64(len(x.ends))
		x.heads[all] = append(x.heads[all], v)
	}
	return x
}

// leaving returns the edges of relations from..to-1 that leave an entity, by relation and end.
func (x *index) leaving(v, from, to int32) (relations, ends []int32) {
	relations, ends = x.relations[x.offsets[v]:x.offsets[v+1]], x.ends[x.offsets[v]:x.offsets[v+1]]
	i, _ := slices.BinarySearch(relations, from)
	j, _ := slices.BinarySearch(relations[i:], to)
	return relations[i : i+j], ends[i : i+j]
}

// answers returns the entities to which a relation leads from another one, ascending.
func (x *index) answers(source, relation int32) []int32 {
	_, ends := x.leaving(source, relation, relation+1)
	return ends
}

// walk calls visit for each simple path along a body that continues a path, until visit returns false. next has the
// answers of a query.
func walk(next func(source, relation int32) []int32, path, body []int32, visit func(path []int32) bool) bool {
	if len(body) == 0 {
		return visit(path)
	}
	for _, o := range next(path[len(path)-1], body[0]) {
		if !slices.Contains(path, o) && !walk(next, append(path, o), body[1:], visit) {
			return false
		}
	}
	return true
}
