package evaluation

import "tagnet/model/graph"

// linksOf says which halves of a fact (h, r, t) other facts of a graph have, which may have the fact itself: the head
// (h, r, .), the tail (., r, t), both or neither.
func linksOf(g *graph.Graph, f graph.Fact) string {
	head, tail := enters(g, f.Head, g.Inverse(f.Relation), f.Tail), enters(g, f.Tail, f.Relation, f.Head)
	switch {
	case head && tail:
		return "both"
	case head:
		return "head"
	case tail:
		return "tail"
	}
	return "neither"
}

// enters reports whether an edge of a relation enters an entity from another one than but.
func enters(g *graph.Graph, entity, relation, but int32) bool {
	senders, relations := g.In(entity)
	for i, r := range relations {
		if r == relation && senders[i] != but {
			return true
		}
	}
	return false
}
