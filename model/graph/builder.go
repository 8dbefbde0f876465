package graph

import "fmt"

// Builder makes a graph of edges that come in its own order, without another copy of them.
type Builder struct {
	g     *Graph
	edges int64
	last  [3]int32 // receiver, sender, relation
	// balance sums a hash of each base edge, less that of each reciprocal's base edge: it is 0
	// where every edge has its reciprocal.
	balance uint64
}

// NewBuilder makes room for so many edges, reciprocals included; more are taken too.
func NewBuilder(entities, baseRelations int, edges int64) *Builder {
	return &Builder{g: &Graph{
		Entities: entities, BaseRelations: baseRelations, Offsets: make([]int64, entities+1),
		Senders: make([]int32, 0, edges), Relations: make([]int32, 0, edges),
	}}
}

// Add takes the next edge. They come by receiver, then sender, then relation, none twice; one out
// of order or with an id that the graph does not have is an error.
func (b *Builder) Add(sender, relation, receiver int32) error {
	g := b.g
	if sender < 0 || int(sender) >= g.Entities || receiver < 0 || int(receiver) >= g.Entities {
		return fmt.Errorf("edge %d: entity of (%d, %d, %d) is outside 0..%d", b.edges, sender, relation, receiver, g.Entities-1)
	}
	if relation < 0 || int(relation) >= g.RelationCount() {
		return fmt.Errorf("edge %d: relation of (%d, %d, %d) is outside 0..%d", b.edges, sender, relation, receiver, g.RelationCount()-1)
	}
	here := [3]int32{receiver, sender, relation}
	if b.edges > 0 && !ascends(b.last, here) {
		return fmt.Errorf("edge %d: (%d, %d, %d) is out of order by (receiver, sender, relation), or stands twice", b.edges, sender, relation, receiver)
	}
	b.last = here
	b.edges++
	if base := int32(g.BaseRelations); relation < base {
		b.balance += hash(sender, relation, receiver)
	} else {
		b.balance -= hash(receiver, relation-base, sender)
	}
	g.Senders, g.Relations = append(g.Senders, sender), append(g.Relations, relation)
	g.Offsets[receiver+1] = b.edges
	return nil
}

func ascends(a, b [3]int32) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// hash mixes the ids of an edge (splitmix64's finalizer, twice).
func hash(head, relation, tail int32) uint64 {
	return mix(mix(uint64(uint32(head))<<32|uint64(uint32(tail))) + uint64(uint32(relation)))
}

func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Graph returns the graph of the edges that were added; the builder is of no use afterwards. That
// an edge has no reciprocal is an error.
func (b *Builder) Graph() (*Graph, error) {
	g := b.g
	if b.balance != 0 {
		return nil, fmt.Errorf("an edge of %d has no reciprocal: each fact is two edges", b.edges)
	}
	for o := range g.Entities {
		g.Offsets[o+1] = max(g.Offsets[o+1], g.Offsets[o])
	}
	g.MeanLogDegree = g.meanLogDegree()
	return g, nil
}
