package graph

import "slices"

// None is the Answer of a query that has none.
const None int32 = -1

// Query is a query (Source, Relation, ?) by ids, in a graph that may lack edges between its source and an answer.
type Query struct {
	// Source is an entity. Relation is 0..2R-1: the inverse of a relation asks for the heads of its facts.
	Source, Relation int32
	// Answer is an answer, or None.
	Answer int32
	// Others has more answers of a training query, or is nil. It is a pointer so that == compares queries.
	Others *Others
	// Removal selects the edges between Source and each answer that leave the graph of the query. With RemoveNothing,
	// answers may be anything.
	Removal Removals
}

// Others are further answers of a query, ascending. They must not change.
type Others []int32

// list returns the answers; nil has none.
func (o *Others) list() []int32 {
	if o == nil {
		return nil
	}
	return *o
}

// has reports whether an entity is one of the answers; nil has none.
func (o *Others) has(entity int32) bool {
	if o == nil {
		return false
	}
	_, found := slices.BinarySearch(*o, entity)
	return found
}

// Removals are edges that leave the graph of a query, as in training.
type Removals uint8

// RemoveNothing leaves the graph as it is. RemoveFact removes the edge from Source to Answer with the Relation, and its
// inverse, RemoveOneHop every edge between the two.
const (
	RemoveNothing Removals = iota
	RemoveFact
	RemoveOneHop
)

// Queries returns the two queries that a fact answers, for its tail and for its head. baseRelations does
// not count inverses.
func (f Fact) Queries(baseRelations int32) (tail, head Query) {
	tail = Query{Source: f.Head, Relation: f.Relation, Answer: f.Tail}
	head = Query{Source: f.Tail, Relation: f.Relation + baseRelations, Answer: f.Head}
	return tail, head
}

// Fact returns the fact of a query and an answer, the reverse of Queries. baseRelations does not count inverses.
func (q Query) Fact(answer, baseRelations int32) Fact {
	if q.Relation < baseRelations {
		return Fact{Head: q.Source, Relation: q.Relation, Tail: answer}
	}
	return Fact{Head: answer, Relation: q.Relation - baseRelations, Tail: q.Source}
}

// Touches reports whether o may have lost an in-edge.
func (q Query) Touches(o int32) bool {
	return q.Removal != RemoveNothing && (o == q.Source || o == q.Answer || q.Others.has(o))
}

// OtherAnswers returns the answers in Others.
func (q Query) OtherAnswers() []int32 { return q.Others.list() }

// Answers returns the number of answers, Others included. Answer counts even if it is None.
func (q Query) Answers() int { return 1 + len(q.Others.list()) }

// SameGraph reports whether two queries' fields remove the same edges.
func (q Query) SameGraph(o Query) bool {
	switch {
	case q.Removal != o.Removal:
		return false
	case q.Removal == RemoveNothing:
		return true
	}
	return q.Source == o.Source && q.Answer == o.Answer && slices.Equal(q.Others.list(), o.Others.list()) &&
		(q.Removal == RemoveOneHop || q.Relation == o.Relation)
}

// RemovalOf returns RemoveFact where the graph has the fact of a query and its answer, else RemoveNothing.
func (g *Graph) RemovalOf(q Query) Removals {
	if g.Has(q.Source, q.Relation, q.Answer) {
		return RemoveFact
	}
	return RemoveNothing
}

// Removes reports whether the edge sender -relation-> receiver leaves the graph of a query.
func (g *Graph) Removes(q Query, sender, relation, receiver int32) bool {
	if q.Removal == RemoveNothing {
		return false
	}
	oneHop := q.Removal == RemoveOneHop
	if sender == q.Source && (oneHop || relation == q.Relation) && (receiver == q.Answer || q.Others.has(receiver)) {
		return true
	}
	return receiver == q.Source && (oneHop || relation == g.Inverse(q.Relation)) && (sender == q.Answer || q.Others.has(sender))
}

// DegreeWithout returns the in-degree of o in the graph of a query.
func (g *Graph) DegreeWithout(o int32, q Query) int {
	degree := g.Degree(o)
	if !q.Touches(o) {
		return degree
	}
	senders, relations := g.In(o)
	for i, sender := range senders {
		if g.Removes(q, sender, relations[i], o) {
			degree--
		}
	}
	return degree
}

// Between counts the edges from Answer to Source: those that leave the graph of the query, and those that stay. A query
// that removes nothing gets zeros. Every edge has its inverse, so as many lead from Source to Answer; if the two are
// one entity, both edges of a loop count. The query must not have Others.
func (g *Graph) Between(q Query) (removed, left int64) {
	if q.Removal == RemoveNothing {
		return 0, 0
	}
	senders, relations := g.In(q.Source)
	first, _ := slices.BinarySearch(senders, q.Answer)
	for i := first; i < len(senders) && senders[i] == q.Answer; i++ {
		if g.Removes(q, q.Answer, relations[i], q.Source) {
			removed++
		} else {
			left++
		}
	}
	return removed, left
}
