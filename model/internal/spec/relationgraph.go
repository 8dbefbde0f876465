package spec

import "tagnet/model/graph"

// Types is the number of types of edges between relations.
const Types = 4

// Edges lists the edges of the relation graph of each type, as (receiver, sender), sorted. The types are in the order
// of the rows of the weights: heads of the receiver that are heads of the sender (hh), tails that are tails (tt), heads
// that are tails (ht), tails that are heads (th).
type Edges [Types][][2]int32

// RelationGraph compares each relation with each other: a message goes from b to a wherever an entity is on the sides
// of both that the type names. Inverse relations are relations of their own, and a relation with a fact meets itself.
func RelationGraph(g *graph.Graph) (edges Edges) {
	n := int32(g.RelationCount())
	heads := make([]map[int32]bool, n)
	for r := range heads {
		heads[r] = map[int32]bool{}
	}
	for o := range int32(g.Entities) {
		senders, relations := g.In(o)
		for i, u := range senders {
			heads[relations[i]][u] = true
		}
	}
	// Two sides meet in an entity; a relation's tails are its inverse's heads.
	meet := func(a, b int32) bool {
		for entity := range heads[a] {
			if heads[b][entity] {
				return true
			}
		}
		return false
	}
	for a := range n {
		for b := range n {
			tailsOfA, tailsOfB := g.Inverse(a), g.Inverse(b)
			for k, met := range [Types]bool{meet(a, b), meet(tailsOfA, tailsOfB), meet(a, tailsOfB), meet(tailsOfA, b)} {
				if met {
					edges[k] = append(edges[k], [2]int32{a, b})
				}
			}
		}
	}
	return edges
}
