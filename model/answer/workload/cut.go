package workload

import (
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// The size of a shard.
const (
	// shardWork is the multiply-adds of a shard, some seconds of a core: enough that a shard costs
	// little beside its work.
	shardWork = 1 << 35
	// maxShards is the most shards of large work, so that each of a few hundred workers has some and
	// files are not many.
	maxShards = 256
	// MaxRows bounds the rows of a shard's tables, which a worker holds, and MaxPaths the paths of its explanations,
	// each of which counts as rowsOfPath: it has a text and steps.
	MaxRows    = 1 << 17
	MaxPaths   = MaxRows / rowsOfPath
	rowsOfPath = 8
	// ExplanationWork is about how many queries take the work of an explanation, at most: it propagates forward and
	// backward over what the answer depends on.
	ExplanationWork = 10
)

// Together is how many times as many queries about a relation are in a shard as their work suggests: the more there
// are, the more of their candidates are the same entities, which are queried backward once. Of FB15k-237, 50 sources of
// a relation between people have 447 different candidates in 500, and all 14,505 have at most as many as there are
// entities: two shards take about twice the time of the queries alone, 45 shards seven times.
const Together = 32

// AnswerRows returns how many rows an answer counts as that is explained by a number of paths.
func AnswerRows(paths int) int { return 1 + rowsOfPath*paths }

// rows returns how many rows the best candidates of a query count as.
func (p Params) rows() int { return p.Best * AnswerRows(p.Paths) }

// Work returns about how many multiply-adds a query takes without truncation: a message along each edge and a score of
// each entity in every layer.
func Work(c configuration.Configuration, g *graph.Graph) float64 {
	return c.Work(g.Entities, g.Edges())
}

// shards returns the number of shards that fits the work of queries.
func shards(queries int, work float64) int {
	return int(max(1, min(maxShards, work/shardWork*float64(queries))))
}

// Count returns about how many ranges Queries.Cut makes of a number of distinct queries, whose tables
// have a number of rows.
func Count(queries, rows int64, work float64) int64 {
	return max(int64(shards(int(queries), work)), (rows+MaxRows-1)/MaxRows)
}

// cut cuts queries, in their order, into ranges [from, to), at least one query each. There are as many of equal length
// as the work is a multiple of shardWork, each query taking work multiply-adds, and more where the tables of a range,
// with a row for each row of the split and best candidates for each query, would have more than MaxRows rows.
//
// Equal numbers of queries stand in for equal work. Of 64 ranges of a test split the largest has
// 1.01 times the mean number of messages on FB15k-237 and 1.78 times on WN18RR, 3% of all work.
// Balancing them by messages (1.06 times on WN18RR) takes a search from every source first.
func cut(queries int, rowsOf func(query int) int, work float64, best int) [][2]int {
	count := shards(queries, work)
	var ranges [][2]int
	rows, from := 0, 0
	for i := range queries {
		size := rowsOf(i) + best
		if i > from && rows+size > MaxRows {
			ranges = append(ranges, [2]int{from, i})
			from, rows = i, 0
		}
		rows += size
		if (i+1)*count/queries > i*count/queries {
			ranges = append(ranges, [2]int{from, i + 1})
			from, rows = i+1, 0
		}
	}
	return ranges
}
