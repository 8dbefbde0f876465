package subgraph

import (
	"slices"

	"tagnet/model/graph"
)

// Subgraph is the part of a graph that a query propagates through. Its entities have ids 0, 1, .. of their own, in the order of those in
// the whole graph.
type Subgraph struct {
	// Entities are the ids in the whole graph, ascending.
	Entities []int32
	// Offsets, Senders and Relations are the edges between the entities, as those of graph.Graph. Removed edges are among them.
	Offsets            []int64
	Senders, Relations []int32
	// Degrees are those in the whole graph, except that the source's is without removed edges whose other end is not in the part.
	Degrees []int32
	// Source is the query's source, and Removal what leaves the part.
	Source  int32
	Removal graph.Removal
}

// Local returns the id of an entity of the whole graph in the part, or -1.
func (s *Subgraph) Local(entity int32) int32 {
	i, found := slices.BinarySearch(s.Entities, entity)
	if !found {
		return -1
	}
	return int32(i)
}

// Of returns the part as a graph that shares its arrays. of is the whole graph.
func (s *Subgraph) Of(of *graph.Graph) *graph.Graph {
	return &graph.Graph{
		Entities: len(s.Entities), BaseRelations: of.BaseRelations, Offsets: s.Offsets, Senders: s.Senders, Relations: s.Relations,
		Degrees: s.Degrees, MeanLogDegree: of.MeanLogDegree,
	}
}

// begin sets the source and the removal. It reports whether the answer of the removal is outside the part: the source's degree, now that in
// the whole graph, has to be without the removed edges.
func (s *Subgraph) begin(source int32, removal graph.Removal) bool {
	s.Source, s.Removal = s.Local(source), graph.Removal{}
	if !removal.Active {
		return false
	}
	answer := s.Local(removal.Answer)
	if answer < 0 {
		return true
	}
	s.Removal = removal
	s.Removal.Source, s.Removal.Answer = s.Source, answer
	return false
}
