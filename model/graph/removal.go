package graph

import "slices"

// Removal is the set of edges that leave the graph of a query, as in training: none (the zero value), the
// fact's edge and its inverse, or every edge between source and answer.
type Removal struct {
	// Active is false where nothing is removed. The other fields are then not used.
	Active bool
	// OneHop removes every edge between Source and Answer, not only the two of the fact.
	OneHop bool
	// Source and Answer are the query's. Relation is that of the edge from Source to Answer, Inverse
	// that of the edge from Answer to Source.
	Source, Answer, Relation, Inverse int32
}

// RemovalOf returns the removal of the edges of a fact from the graph of the query (source, relation, ?) that it answers: none
// where the graph does not have the fact.
func (g *Graph) RemovalOf(source, relation, answer int32) Removal {
	if !g.Has(source, relation, answer) {
		return Removal{}
	}
	return Removal{Active: true, Source: source, Answer: answer, Relation: relation, Inverse: g.Inverse(relation)}
}

// Removes reports whether the edge sender -relation-> receiver is removed.
func (r Removal) Removes(sender, relation, receiver int32) bool {
	if !r.Active {
		return false
	}
	if sender == r.Source && receiver == r.Answer && (r.OneHop || relation == r.Relation) {
		return true
	}
	return sender == r.Answer && receiver == r.Source && (r.OneHop || relation == r.Inverse)
}

// Touches reports whether o may have lost an in-edge.
func (r Removal) Touches(o int32) bool {
	return r.Active && (o == r.Source || o == r.Answer)
}

// DegreeWithout returns the in-degree of o without the removed edges.
func (g *Graph) DegreeWithout(o int32, r Removal) int {
	degree := g.Degree(o)
	if !r.Touches(o) {
		return degree
	}
	senders, relations := g.In(o)
	for i, sender := range senders {
		if r.Removes(sender, relations[i], o) {
			degree--
		}
	}
	return degree
}

// Between returns the number of edges from a removal's answer to its source: those that it removes,
// and those left. As many lead from source to answer, unless the two are the same entity: then the
// counts are those of its loops, with both edges of each.
func (g *Graph) Between(r Removal) (removed, left int64) {
	if !r.Active {
		return 0, 0
	}
	senders, relations := g.In(r.Source)
	first, _ := slices.BinarySearch(senders, r.Answer)
	for i := first; i < len(senders) && senders[i] == r.Answer; i++ {
		if r.Removes(r.Answer, relations[i], r.Source) {
			removed++
		} else {
			left++
		}
	}
	return removed, left
}
