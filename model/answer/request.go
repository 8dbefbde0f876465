package answer

import (
	"fmt"
	"slices"

	"tagnet/model/answer/ranking"
	"tagnet/model/engine/parts"
	"tagnet/model/graph"
)

// Request is a distinct query. Its own Answer is None unless edges leave its graph.
type Request struct {
	graph.Query
	// Rows are the positions, ascending, of the rows of the split's table that have this query,
	// and Answers the labelled answer of each, or graph.None.
	Rows    []int64
	Answers []int32
	// Known are all known answers of the query, ascending, each once.
	Known []int32
	// Part, unless nil, is the part of the graph that the query propagates through; see propagation.Request.
	Part *parts.Subgraph
	// Sample selects the entities among which the answers are ranked; its zero value selects all.
	Sample Sample
}

// Rows returns the number of rows of the split's table that queries cover.
func Rows(queries []Request) int64 {
	var n int64
	for _, q := range queries {
		n += int64(len(q.Rows))
	}
	return n
}

// check returns an error if an id of queries is outside a graph with that many entities and
// relations (2R), or lists do not have the length or order that Request states.
func check(queries []Request, entities, relations int) error {
	entity := func(id int32) bool { return id >= 0 && int(id) < entities }
	for _, q := range queries {
		if !entity(q.Source) {
			return fmt.Errorf("source %d is outside 0..%d", q.Source, entities-1)
		}
		if q.Relation < 0 || int(q.Relation) >= relations {
			return fmt.Errorf("relation %d is outside 0..%d", q.Relation, relations-1)
		}
		if q.Removal != graph.RemoveNothing && !entity(q.Answer) {
			return fmt.Errorf("the edges between %d and %d cannot leave the graph of (%d, %d, ?)", q.Source, q.Answer, q.Source, q.Relation)
		}
		if len(q.Rows) != len(q.Answers) || len(q.Rows) == 0 {
			return fmt.Errorf("query (%d, %d, ?) has %d rows, but %d answers", q.Source, q.Relation, len(q.Rows), len(q.Answers))
		}
		for i, answer := range q.Answers {
			if answer != graph.None && !entity(answer) {
				return fmt.Errorf("answer %d of row %d is outside 0..%d", answer, q.Rows[i], entities-1)
			}
		}
		for i, known := range q.Known {
			if !entity(known) || i > 0 && q.Known[i-1] >= known {
				return fmt.Errorf("known answers of (%d, %d, ?) are not ascending ids below %d", q.Source, q.Relation, entities)
			}
		}
	}
	return nil
}

// RankOf ranks an answer of the query by the scores of all entities.
func (q Request) RankOf(answer int32, scores []float32) ranking.Rank {
	if q.Sample.Negatives > 0 {
		return ranking.Among(scores, answer, q.Negatives(answer, len(scores)))
	}
	return ranking.Filtered(scores, answer, q.Known)
}

// IsKnown reports whether an entity is a known answer of the query.
func (q Request) IsKnown(entity int32) bool {
	_, known := slices.BinarySearch(q.Known, entity)
	return known
}
