package spec

import (
	"tagnet/model/engine/parts"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// Inside returns the entities of a query's reach, [V], as Query has them: nil without one. Package parts chooses them.
func Inside(g *graph.Graph, c configuration.Configuration, q graph.Query) []bool {
	if c.Reach == 0 {
		return nil
	}
	var part parts.Subgraph
	parts.NewFinder(g, c.Reach, c.Layers).Find(q, &part)
	inside := make([]bool, g.Entities)
	for _, o := range part.Entities {
		inside[o] = true
	}
	return inside
}
