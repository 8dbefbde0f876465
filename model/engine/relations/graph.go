package relations

import (
	"slices"

	"tagnet/model/engine/kernel"
	"tagnet/model/weights/parameters"
)

// types is the number of types of edges.
const types = parameters.RelationTypes

// Graph is the graph whose nodes are the 2R relations of a knowledge graph, inverse ones included. It keeps which
// relations meet, that is, share a head, since the tails of a relation are the heads of its inverse. An edge leads from
// a sender b to a receiver a and is of type
//
//	0  hh  where heads of a are heads of b     a meets b
//	1  tt  where tails of a are tails of b     inverse a meets inverse b
//	2  ht  where heads of a are tails of b     a meets inverse b
//	3  th  where tails of a are heads of b     inverse a meets b
//
// however many entities they share. A relation with a fact meets itself; the others have no edges. So hh and tt are
// symmetric, th is ht turned round, and all types have as many edges. A Graph takes 4 bytes for four edges.
type Graph struct {
	relations int     // 2R
	offsets   []int   // of the rows of meets, [2R + 1]
	meets     []int32 // for each relation those that it meets, ascending
}

// Relations returns the number of nodes, 2R.
func (g *Graph) Relations() int { return g.relations }

// Edges returns the number of edges of all types.
func (g *Graph) Edges() int64 { return types * int64(len(g.meets)) }

// row returns the relations that a relation meets, ascending.
func (g *Graph) row(a int32) []int32 { return g.meets[g.offsets[a]:g.offsets[a+1]] }

// inverse returns the inverse of a relation.
func (g *Graph) inverse(a int32) int32 {
	if base := int32(g.relations / 2); a < base {
		return a + base
	} else {
		return a - base
	}
}

// appendSenders appends the senders of the edges of a type to a receiver, ascending.
func (g *Graph) appendSenders(to []int32, kind uint8, receiver int32) []int32 {
	side := receiver
	if kind == 1 || kind == 3 { // tails of the receiver
		side = g.inverse(receiver)
	}
	met := g.row(side)
	if kind == 0 || kind == 3 { // heads of the sender
		return append(to, met...)
	}
	// The inverses of inverse relations, the second part of the row, are the smaller ones.
	base := int32(g.relations / 2)
	split, _ := slices.BinarySearch(met, base)
	for _, b := range met[split:] {
		to = append(to, b-base)
	}
	for _, b := range met[:split] {
		to = append(to, b+base)
	}
	return to
}

// Senders returns the edges as the kernels take them: by receiver, then type, then sender, which is the order of sums.
// All are of the kernels' first kind.
func (g *Graph) Senders() (s kernel.Senders) {
	s.Rows, s.Relations = make([]int32, 0, g.Edges()), make([]int32, 0, g.Edges())
	s.Offsets = append(make([]int32, 0, 3*g.relations+1), 0)
	for a := range int32(g.relations) {
		for kind := range types {
			s.Rows = g.appendSenders(s.Rows, uint8(kind), a)
			for len(s.Relations) < len(s.Rows) {
				s.Relations = append(s.Relations, int32(kind))
			}
		}
		end := int32(len(s.Rows))
		s.Offsets = append(s.Offsets, end, end, end)
	}
	return s
}
