package graph

import (
	"fmt"
	"slices"

	"tagnet/model/parallel"
)

// Builder builds a graph from edges in the graph's own order, without a second copy of them.
type Builder struct {
	g     *Graph
	edges int64
	last  [3]int32 // receiver, sender, relation
	// balance is the sum of a hash of each base edge, less the hash of the base edge of each inverse
	// edge: 0 if every edge has its inverse.
	balance uint64
	leftOut int
}

// NewBuilder returns a builder that allocates a number of edges, inverses included. It grows for more.
func NewBuilder(entities, baseRelations int, edges int64) *Builder {
	return &Builder{g: &Graph{
		Entities: entities, BaseRelations: baseRelations, Offsets: make([]int64, entities+1),
		Senders: make([]int32, 0, edges), Relations: make([]int32, 0, edges),
	}}
}

// Add appends an edge. Edges must be ordered by receiver, then sender, then relation, without repeats.
// An edge out of order, or with an id out of range, is an error.
func (b *Builder) Add(sender, relation, receiver int32) error {
	g := b.g
	if sender < 0 || int(sender) >= g.Entities || receiver < 0 || int(receiver) >= g.Entities {
		return fmt.Errorf("edge %d: entity of (%d, %d, %d) is out of range 0..%d", b.edges, sender, relation, receiver, g.Entities-1)
	}
	if relation < 0 || int(relation) >= g.RelationCount() {
		return fmt.Errorf("edge %d: relation of (%d, %d, %d) is out of range 0..%d", b.edges, sender, relation, receiver, g.RelationCount()-1)
	}
	edge := [3]int32{receiver, sender, relation}
	if b.edges > 0 && slices.Compare(b.last[:], edge[:]) >= 0 {
		return fmt.Errorf("edge %d: (%d, %d, %d) is out of order by (receiver, sender, relation), or repeated", b.edges, sender, relation, receiver)
	}
	b.last = edge
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

// LeaveOut leaves a number of entities, which have no edges, out of MeanLogDegree.
func (b *Builder) LeaveOut(entities int) { b.leftOut = entities }

// hash mixes the ids of an edge.
func hash(head, relation, tail int32) uint64 {
	return parallel.Mix(parallel.Mix(uint64(uint32(head))<<32|uint64(uint32(tail))) + uint64(uint32(relation)))
}

// Graph returns the graph of all edges added. The builder must not be used afterwards. An edge without
// its inverse is an error.
func (b *Builder) Graph() (*Graph, error) {
	g := b.g
	if b.balance != 0 {
		return nil, fmt.Errorf("one of %d edges has no inverse: each fact has two edges", b.edges)
	}
	for o := range g.Entities {
		g.Offsets[o+1] = max(g.Offsets[o+1], g.Offsets[o])
	}
	g.MeanLogDegree = g.meanLogDegree(g.Entities - b.leftOut)
	return g, nil
}
