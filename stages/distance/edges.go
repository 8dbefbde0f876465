package distance

import (
	"context"
	"fmt"
	"sync"

	"tagnet/formats/tables"
)

// edges are the edges that lead to a range of entities, by entity.
type edges struct {
	offsets []int64
	senders []int32
}

// neighbours are the entities at the other end of the edges of the i-th entity of the range;
// by reciprocity they are also those that its edges lead to.
func (e *edges) neighbours(i int32) []int32 { return e.senders[e.offsets[i]:e.offsets[i+1]] }

// recent keeps the shards that were read last, so that the blocks of a round share them.
var recent struct {
	sync.Mutex
	shards map[EdgeShard]*edges
}

// mostRecent is how many shards a process keeps.
const mostRecent = 2

// loadEdges reads a shard of edges, unless it is at hand.
func loadEdges(ctx context.Context, p JoinParams, shard int) (*edges, error) {
	file := p.Edges[shard]
	recent.Lock()
	defer recent.Unlock()
	if e := recent.shards[file]; e != nil {
		return e, nil
	}
	table, err := tables.ReadEdges(ctx, file.URL)
	if err != nil {
		return nil, err
	}
	from, to := p.Range(shard)
	e := &edges{offsets: make([]int64, to-from+1), senders: table.Heads} // sorted by tail
	for _, tail := range table.Tails {
		if tail < from || tail >= to {
			return nil, fmt.Errorf("%s has an edge to entity %d, outside of its range %d to %d", file.URL, tail, from, to-1)
		}
		e.offsets[tail-from+1]++
	}
	for i := range to - from {
		e.offsets[i+1] += e.offsets[i]
	}
	for i, head := range table.Heads {
		if head < 0 || int(head) >= p.Entities {
			return nil, fmt.Errorf("%s: edge %d comes from entity %d of %d", file.URL, i, head, p.Entities)
		}
	}
	if len(recent.shards) >= mostRecent || recent.shards == nil {
		recent.shards = map[EdgeShard]*edges{}
	}
	recent.shards[file] = e
	return e, nil
}
