package evaluation

import "tagnet/model/graph"

// Links says which halves of a fact (h, r, t) a graph has: (h, r, .) and (., r, t).
type Links int

// The classes of facts: another fact has neither half, the head with the relation, the relation with the tail, or both.
const (
	Neither Links = iota
	HeadOnly
	TailOnly
	Both
)

// String returns the name of a class.
func (l Links) String() string {
	return [...]string{"neither", "head", "tail", "both"}[l]
}

// LinksOf returns the class of a fact by the other facts of a graph, which may have the fact itself.
func LinksOf(g *graph.Graph, f graph.Fact) (links Links) {
	inverse := g.Inverse(f.Relation)
	if enters(g, f.Head, inverse, f.Tail) {
		links += HeadOnly
	}
	if enters(g, f.Tail, f.Relation, f.Head) {
		links += TailOnly
	}
	return links
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
