package study

import (
	modelgraph "tagnet/model/graph"
	"tagnet/model/study"
)

// sourceCounts counts the messages of a source's queries. Their levels are equal, and Levels counts
// one query, unless each query has a graph of its own because edges are removed from it: then Levels
// is the sum over the queries.
type sourceCounts struct {
	Source  int32
	Queries int64
	Levels  study.Levels
	// Parts takes the place of Levels where each query has a part of the graph: one for each number of layers.
	Parts []study.Levels
}

// levels returns the levels for the number of layers at an index of Params.Layers.
func (c sourceCounts) levels(i int) study.Levels {
	if c.Parts != nil {
		return c.Parts[i]
	}
	return c.Levels
}

// choice counts the messages that A*Net chooses in one layer for the queries that share a source and a relation.
type choice struct {
	modelgraph.Query
	Queries int64
	Layer   int32 // from 1
	// Edges is the number of edges of the graph, AStar the number of those that A*Net chooses, and
	// Kept how many of the chosen ones the window admits too.
	Edges, AStar, Kept int64
	// Empty is the number of edges whose sender is not reached yet.
	Empty int64
}
