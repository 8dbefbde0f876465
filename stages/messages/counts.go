package messages

import (
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/model/messages"
)

// shardCounts is the counts of a shard of sources, an element of the pipeline: either Sources or
// Choices.
type shardCounts struct {
	Sources []sourceCounts
	Choices []choice
}

// sourceCounts is the counts of a source's queries. Their levels are equal, and Levels is those of
// one query, unless each query has a graph of its own because edges are removed from it: then Levels
// is the sum over the queries.
type sourceCounts struct {
	Source  int32
	Queries int64
	Levels  messages.Levels
}

// choice is what A*Net chooses in one layer for the queries that share a source and a relation.
type choice struct {
	Source, Relation int32
	Queries          int64
	Layer            int32 // from 1
	// Edges is the number of edges of the graph, AStar the number of those that A*Net chooses, and
	// Kept how many of the chosen ones the window admits too.
	Edges, AStar, Kept int64
	// Empty is the number of edges whose sender is not reached yet.
	Empty int64
}

func init() {
	beam.RegisterType(reflect.TypeOf((*shardCounts)(nil)).Elem())
}
