package steps

import (
	"fmt"
	"slices"

	"tagnet/model/engine/parts"
	"tagnet/model/graph"
)

// Example is one training query with its answers. The configuration decides which edges leave its
// graph, not its Removal.
type Example struct {
	graph.Query
	// Known are the answers of (Source, Relation) known while training, in ascending order.
	Known []int32
	// Key is unique to this use of the query and its Answer: negatives and dropout derive from it and the seed.
	// OtherKeys are the keys of Others, for their negatives.
	Key       uint64
	OtherKeys []uint64
	// Part, unless nil, is the part of the graph that the query propagates through; see propagation.Request.
	Part *parts.Subgraph
	// Negatives are the entities to rank each answer against, configuration.Negatives of them for Answer and then for
	// each of Others; nil, the usual case, draws them.
	Negatives []int32
}

// alone returns the example with one of its answers, from 0, and no others. Its graph lacks the edges
// to this answer alone.
func (e Example) alone(answer int) Example {
	if e.Negatives != nil {
		each := len(e.Negatives) / e.Answers()
		e.Negatives = e.Negatives[answer*each : (answer+1)*each]
	}
	if answer > 0 {
		e.Answer, e.Key = e.OtherAnswers()[answer-1], e.OtherKeys[answer-1]
	}
	e.Others, e.OtherKeys = nil, nil
	return e
}

// Check returns an error where an example does not fit a graph or a number of negatives.
func Check(e Example, g *graph.Graph, negatives int) error {
	inside := func(entity int32) bool { return entity >= 0 && int(entity) < g.Entities }
	switch {
	case !inside(e.Source) || !inside(e.Answer):
		return fmt.Errorf("an entity is outside 0..%d", g.Entities-1)
	case e.Relation < 0 || int(e.Relation) >= g.RelationCount():
		return fmt.Errorf("the relation is outside 0..%d", g.RelationCount()-1)
	case len(e.OtherKeys) != len(e.OtherAnswers()) || !slices.IsSorted(e.OtherAnswers()):
		return fmt.Errorf("other answers %v with %d keys, want ascending ones with a key each", e.OtherAnswers(), len(e.OtherKeys))
	case e.Negatives != nil && len(e.Negatives) != e.Answers()*negatives:
		return fmt.Errorf("%d negatives, want %d", len(e.Negatives), e.Answers()*negatives)
	}
	for _, answer := range e.OtherAnswers() {
		if !inside(answer) {
			return fmt.Errorf("answer %d is outside 0..%d", answer, g.Entities-1)
		}
	}
	for _, negative := range e.Negatives {
		if !inside(negative) {
			return fmt.Errorf("negative %d is outside 0..%d", negative, g.Entities-1)
		}
	}
	return nil
}
