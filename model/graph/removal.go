package graph

import "slices"

// Removal is what leaves the graph of one training query: nothing (the zero value), the
// fact's edge with its reciprocal, or every edge between its two ends.
type Removal struct {
	// Active is false where nothing is removed; the other fields then say nothing.
	Active bool
	// OneHop removes every edge between Source and Answer, not only the two of the fact.
	OneHop bool
	// Source and Answer are the fact's ends as the query asks them, Relation leads from
	// Source to Answer, and Inverse back.
	Source, Answer, Relation, Inverse int32
}

// Removes tells whether the edge sender -relation-> receiver is not in the query's graph.
func (r Removal) Removes(sender, relation, receiver int32) bool {
	if !r.Active {
		return false
	}
	if sender == r.Source && receiver == r.Answer && (r.OneHop || relation == r.Relation) {
		return true
	}
	return sender == r.Answer && receiver == r.Source && (r.OneHop || relation == r.Inverse)
}

// Touches tells whether o may have lost an in-edge.
func (r Removal) Touches(o int32) bool {
	return r.Active && (o == r.Source || o == r.Answer)
}

// DegreeWithout is the in-degree of o in the query's graph.
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

// Between is the number of edges that lead from a removal's answer to its source: those that
// leave with the removal, and those that are left. By reciprocity as many lead back, unless the
// two are the same entity; then its loops are counted, both edges of each.
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
