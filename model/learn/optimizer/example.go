package optimizer

import (
	"fmt"

	"tagnet/model/graph"
	"tagnet/model/graph/parts"
)

// Example is one training query with its answer. The configuration decides which edges leave its graph, not its Removal.
type Example struct {
	graph.Query
	// Known are the answers of (Source, Relation) known while training, in ascending order.
	Known []int32
	// Key is unique to this use of the query: negatives and dropout derive from it and the seed.
	Key uint64
	// Part, unless nil, is the part of the graph that the query propagates through; see propagation.Request.
	Part *parts.Subgraph
	// Negatives are the entities to rank the answer against, configuration.Negatives of them; nil,
	// the usual case, draws them.
	Negatives []int32
}

// Check returns an error where an example does not fit a graph or a number of negatives.
func Check(e Example, g *graph.Graph, negatives int) error {
	inside := func(entity int32) bool { return entity >= 0 && int(entity) < g.Entities }
	switch {
	case !inside(e.Source) || !inside(e.Answer):
		return fmt.Errorf("an entity is outside 0..%d", g.Entities-1)
	case e.Relation < 0 || int(e.Relation) >= g.RelationCount():
		return fmt.Errorf("the relation is outside 0..%d", g.RelationCount()-1)
	case e.Negatives != nil && len(e.Negatives) != negatives:
		return fmt.Errorf("%d negatives, want %d", len(e.Negatives), negatives)
	}
	for _, negative := range e.Negatives {
		if !inside(negative) {
			return fmt.Errorf("negative %d is outside 0..%d", negative, g.Entities-1)
		}
	}
	return nil
}
