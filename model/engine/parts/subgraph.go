package parts

import (
	"slices"

	"tagnet/model/graph"
)

// Subgraph is the part of a graph that a query propagates through. Its entities have ids 0, 1, .. of their own, in the
// order of those in the whole graph.
type Subgraph struct {
	// Entities are the ids in the whole graph, ascending.
	Entities []int32
	// Offsets, Senders and Relations are the edges between the entities, as in graph.Graph. Removed
	// edges are among them.
	Offsets            []int64
	Senders, Relations []int32
	// Degrees are the degrees in the whole graph, except that the source's does not count removed edges to entities
	// outside the part.
	Degrees []int32
	// Query has the query's source and the edges that leave the part, by the ids of the part: of its answers only those
	// in the part. It has no answer and no relation if no edge leaves.
	graph.Query
}

// Local returns the id of an entity of the whole graph in the part, or -1.
func (s *Subgraph) Local(entity int32) int32 {
	i, found := slices.BinarySearch(s.Entities, entity)
	if !found {
		return -1
	}
	return int32(i)
}

// Of returns the part as a graph that shares its arrays. whole is the graph it is of.
func (s *Subgraph) Of(whole *graph.Graph) *graph.Graph {
	return &graph.Graph{
		Entities: len(s.Entities), BaseRelations: whole.BaseRelations, Offsets: s.Offsets, Senders: s.Senders, Relations: s.Relations,
		Degrees: s.Degrees, MeanLogDegree: whole.MeanLogDegree,
	}
}

// begin sets the query. It returns q with the answers alone that are outside the part, and without a removal if there
// are none: the source's degree, now its degree in the whole graph, has to be without the edges to these.
func (s *Subgraph) begin(q graph.Query) (outside graph.Query) {
	s.Query = graph.Query{Source: s.Local(q.Source), Answer: graph.None}
	outside = graph.Query{Source: q.Source, Relation: q.Relation, Answer: graph.None}
	if q.Removal == graph.RemoveNothing {
		return outside
	}
	if local := s.Local(q.Answer); local >= 0 {
		s.Answer = local
	} else {
		outside.Answer, outside.Removal = q.Answer, q.Removal
	}
	if q.Others != nil {
		s.Others, outside.Others = new(graph.Others), new(graph.Others)
	}
	for _, answer := range q.OtherAnswers() {
		if local := s.Local(answer); local >= 0 {
			*s.Others = append(*s.Others, local)
		} else {
			*outside.Others, outside.Removal = append(*outside.Others, answer), q.Removal
		}
	}
	if s.Answer != graph.None || s.Answers() > 1 {
		s.Relation, s.Removal = q.Relation, q.Removal
	}
	return outside
}
