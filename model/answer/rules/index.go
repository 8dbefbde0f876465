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

// tally counts what a body gives heads: the support and the cases of a Rule, and the heads with and without an answer
// to which the body gives one.
type tally struct{ support, cases, with, without int }

// slack is the support that a body may lack at first for the least confidence. mostFollowed is the number of edges that
// may be followed to join a head and a tail, or to count a body, of which each head adds mostOfHead.
const slack, mostFollowed, mostOfHead = 20, 1 << 14, 50

// count counts a body for a relation. It counts nothing of one that has less than a confidence, or that takes long.
func (x *index) count(heads []int32, relation int32, body []int32, least float64) (t tally) {
	left := mostFollowed + mostOfHead*len(heads)
	for _, head := range heads {
		answers := x.answers(head, relation)
		var given []int32
		left -= walk(x.answers, []int32{head, 0, 0, 0}[:1], body, left, func(path []int32) bool {
			given = append(given, path[len(path)-1])
			return true
		})
		slices.Sort(given)
		given = slices.Compact(given)
		if len(answers) > 0 {
			t.with, t.cases = t.with+min(1, len(given)), t.cases+len(given)
		} else {
			t.without += min(1, len(given))
		}
		for _, o := range answers {
			if _, found := slices.BinarySearch(given, o); found {
				t.support++
			}
		}
		if left < 0 || float64(t.support)+slack < least*float64(t.cases) {
			return tally{}
		}
	}
	return t
}

// walk calls visit for each simple path along a body that continues a path, until visit returns false or it has
// followed most edges, and returns their number. next has the answers of a query.
func walk(next func(source, relation int32) []int32, path, body []int32, most int, visit func(path []int32) bool) (edges int) {
	if len(body) == 0 {
		if visit(path) {
			return 0
		}
		return most + 1
	}
	for _, o := range next(path[len(path)-1], body[0]) {
		if edges++; !slices.Contains(path, o) {
			edges += walk(next, append(path, o), body[1:], most-edges, visit)
		}
		if edges > most {
			break
		}
	}
	return edges
}
