package graph

import (
	"cmp"
	"fmt"
	"math"
	"sort"
)

// Fact is a base triple (head, relation, tail) by ids. Its inverse is implied.
type Fact struct{ Head, Relation, Tail int32 }

// Compare orders facts by head, relation and tail.
func (f Fact) Compare(o Fact) int {
	return cmp.Or(cmp.Compare(f.Head, o.Head), cmp.Compare(f.Relation, o.Relation), cmp.Compare(f.Tail, o.Tail))
}

// Graph is an immutable knowledge graph in compressed sparse form by receiver.
//
// Every fact (h, r, t) is two edges, h -r-> t and t -(r+R)-> h, so the same arrays serve by sender: the
// edges that leave u are the edges that enter it, each with the Inverse of its relation.
type Graph struct {
	// Entities is the number V of entities, ids 0..V-1.
	Entities int
	// BaseRelations is R; relation ids are 0..2R-1.
	BaseRelations int
	// Offsets has V+1 entries: the edges that enter o are Offsets[o] to Offsets[o+1].
	Offsets []int64
	// Senders and Relations have an entry for each edge, grouped by receiver and ordered by (sender,
	// relation).
	Senders, Relations []int32
	// Degrees, unless nil, are the entities' degrees in the whole graph, of which this graph is a part: edges of other entities
	// count too.
	Degrees []int32
	// MeanLogDegree is D, the mean of log(degree + 1) over all entities, except those that Builder.LeaveOut leaves out.
	MeanLogDegree float64

	outline *outline // unless nil, the graph has no edges
}

// New builds a graph from base facts. A repeated fact counts once; loops and parallel relations are
// kept. An id out of range is an error.
func New(entities, baseRelations int, facts []Fact) (*Graph, error) {
	g := &Graph{Entities: entities, BaseRelations: baseRelations, Offsets: make([]int64, entities+1)}
	for i, f := range facts {
		if f.Head < 0 || int(f.Head) >= entities || f.Tail < 0 || int(f.Tail) >= entities {
			return nil, fmt.Errorf("fact %d: entity of (%d, %d, %d) is out of range 0..%d", i, f.Head, f.Relation, f.Tail, entities-1)
		}
		if f.Relation < 0 || int(f.Relation) >= baseRelations {
			return nil, fmt.Errorf("fact %d: relation of (%d, %d, %d) is out of range 0..%d", i, f.Head, f.Relation, f.Tail, baseRelations-1)
		}
		g.Offsets[f.Tail+1]++
		g.Offsets[f.Head+1]++
	}
	// Counts become offsets.
	for o := range entities {
		g.Offsets[o+1] += g.Offsets[o]
	}
	g.Senders = make([]int32, 2*len(facts))
	g.Relations = make([]int32, 2*len(facts))
	next := append([]int64(nil), g.Offsets[:entities]...)
	// Each fact is an edge in both directions.
	put := func(sender, relation, receiver int32) {
		i := next[receiver]
		next[receiver]++
		g.Senders[i], g.Relations[i] = sender, relation
	}
	for _, f := range facts {
		put(f.Head, f.Relation, f.Tail)
		put(f.Tail, f.Relation+int32(baseRelations), f.Head)
	}
	g.sortAndDeduplicate()
	g.MeanLogDegree = g.meanLogDegree(entities)
	return g, nil
}

// sortAndDeduplicate orders each entity's in-edges by (sender, relation) and removes repeats.
func (g *Graph) sortAndDeduplicate() {
	var kept int64
	start := int64(0)
	for o := range g.Entities {
		end := g.Offsets[o+1]
		list := adjacency{g.Senders[start:end], g.Relations[start:end]}
		sort.Sort(list)
		g.Offsets[o] = kept
		for i := range list.senders {
			if i > 0 && list.senders[i] == list.senders[i-1] && list.relations[i] == list.relations[i-1] {
				continue
			}
			// kept is at most start+i: nothing is overwritten before it is read and compared.
			g.Senders[kept], g.Relations[kept] = list.senders[i], list.relations[i]
			kept++
		}
		start = end
	}
	g.Offsets[g.Entities] = kept
	g.Senders, g.Relations = g.Senders[:kept:kept], g.Relations[:kept:kept]
}

// adjacency is an entity's edges, which sort.Sort orders by sender and relation.
type adjacency struct{ senders, relations []int32 }

func (a adjacency) Len() int { return len(a.senders) }
func (a adjacency) Less(i, j int) bool {
	if a.senders[i] != a.senders[j] {
		return a.senders[i] < a.senders[j]
	}
	return a.relations[i] < a.relations[j]
}
func (a adjacency) Swap(i, j int) {
	a.senders[i], a.senders[j] = a.senders[j], a.senders[i]
	a.relations[i], a.relations[j] = a.relations[j], a.relations[i]
}

// meanLogDegree returns MeanLogDegree over counted entities. The others have no edges.
func (g *Graph) meanLogDegree(counted int) float64 {
	if counted == 0 {
		return 0
	}
	sum := 0.0
	for o := range g.Entities {
		sum += math.Log(float64(g.Offsets[o+1]-g.Offsets[o]) + 1)
	}
	return sum / float64(counted)
}

// Edges returns the number E of edges, inverses included.
func (g *Graph) Edges() int64 {
	if g.outline != nil {
		return g.outline.edges
	}
	return int64(len(g.Senders))
}

// RelationCount returns 2R, the number of relations, inverses included.
func (g *Graph) RelationCount() int { return 2 * g.BaseRelations }

// HighestDegree returns the highest degree of an entity, or 0 without entities.
func (g *Graph) HighestDegree() (highest int) {
	for o := range int32(g.Entities) {
		highest = max(highest, g.Degree(o))
	}
	return highest
}

// Degree returns the number of edges that enter o. As many leave it.
func (g *Graph) Degree(o int32) int {
	if g.Degrees != nil {
		return int(g.Degrees[o])
	}
	return int(g.Offsets[o+1] - g.Offsets[o])
}

// In returns the senders and relations of the edges that enter o. The slices are views.
func (g *Graph) In(o int32) (senders, relations []int32) {
	return g.Senders[g.Offsets[o]:g.Offsets[o+1]], g.Relations[g.Offsets[o]:g.Offsets[o+1]]
}

// Has reports whether there is an edge, which may be the inverse of a fact.
func (g *Graph) Has(sender, relation, receiver int32) bool {
	senders, relations := g.In(receiver)
	i := sort.Search(len(senders), func(i int) bool {
		return senders[i] > sender || senders[i] == sender && relations[i] >= relation
	})
	return i < len(senders) && senders[i] == sender && relations[i] == relation
}

// Inverse returns the inverse of a relation: r+R for a base relation r, and r for r+R.
func (g *Graph) Inverse(relation int32) int32 {
	if int(relation) < g.BaseRelations {
		return relation + int32(g.BaseRelations)
	}
	return relation - int32(g.BaseRelations)
}
