package graph

import (
	"cmp"
	"fmt"
	"math"
	"slices"
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
	// Senders and Relations have an entry for each edge, grouped by receiver and ordered by (sender, relation).
	Senders, Relations []int32
	// Degrees, unless nil, are the entities' degrees in the whole graph, of which this graph is a part: edges of other
	// entities count too.
	Degrees []int32
	// MeanLogDegree is D, the mean of log(degree + 1) over all entities, except those that Builder.LeaveOut leaves out.
	MeanLogDegree float64

	outline *outline // unless nil, the graph has no edges
}

// New builds a graph from base facts. A repeated fact counts once; loops and parallel relations are
// kept. An id out of range is an error.
func New(entities, baseRelations int, facts []Fact) (*Graph, error) {
	// Each fact is an edge in both directions.
	edges := make([][3]int32, 0, 2*len(facts)) // receiver, sender, relation
	for i, f := range facts {
		if f.Head < 0 || int(f.Head) >= entities || f.Tail < 0 || int(f.Tail) >= entities {
			return nil, fmt.Errorf("fact %d: entity of (%d, %d, %d) is out of range 0..%d", i, f.Head, f.Relation, f.Tail, entities-1)
		}
		if f.Relation < 0 || int(f.Relation) >= baseRelations {
			return nil, fmt.Errorf("fact %d: relation of (%d, %d, %d) is out of range 0..%d", i, f.Head, f.Relation, f.Tail, baseRelations-1)
		}
		edges = append(edges, [3]int32{f.Tail, f.Head, f.Relation}, [3]int32{f.Head, f.Tail, f.Relation + int32(baseRelations)})
	}
	slices.SortFunc(edges, func(a, b [3]int32) int {
		return slices.Compare(a[:], b[:])
	})
	edges = slices.Compact(edges)
	b := NewBuilder(entities, baseRelations, int64(len(edges)))
	for _, e := range edges {
		if err := b.Add(e[1], e[2], e[0]); err != nil {
			return nil, err
		}
	}
	return b.Graph()
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

// Answers returns the entities to which a relation, which may be an inverse one, leads from source, ascending, in a
// slice of its own, or nil.
func (g *Graph) Answers(source, relation int32) (answers []int32) {
	inverse := g.Inverse(relation)
	senders, relations := g.In(source)
	for i, r := range relations {
		if r == inverse {
			answers = append(answers, senders[i])
		}
	}
	return answers
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
