package graph

// None is the Answer of a query that has none.
const None int32 = -1

// Query is a query (Source, Relation, ?) by ids.
type Query struct {
	// Source is an entity. Relation is 0..2R-1: the inverse of a relation asks for the heads of its facts.
	Source, Relation int32
	// Answer is the entity that is asked about, or None.
	Answer int32
	// Removal says which edges between Source and Answer leave the graph of the query.
	Removal Removals
}

// Removals are edges that leave the graph of a query, as in training.
type Removals uint8

// RemoveNothing leaves the graph as it is. RemoveFact removes the edge from Source to Answer with the Relation, and its inverse,
// RemoveOneHop every edge between the two.
const (
	RemoveNothing Removals = iota
	RemoveFact
	RemoveOneHop
)
