package distances

import (
	"fmt"

	"tagnet/formats/storage"
)

// SourcesPerWord is how many sources share a machine word, a bit each.
const SourcesPerWord = 64

// JoinParams are the parameters of Join and Tables. Ranges, Words, ChunkBytes and CacheBytes, which
// Plan chooses, change no byte of the tables.
type JoinParams struct {
	SearchParams
	// Entities is the number V of entities.
	Entities int
	// Edges are the shards of the graph's edges, in order: shard k has those that lead to the
	// k-th of equal ranges of entities.
	Edges []EdgeShard
	// Sources is how many sources there are in all, PerTable how many a table has, as
	// SourcesPerShard returns it.
	Sources, PerTable int
	// Ranges is the number of equal ranges of entities that are searched separately, 1 to V.
	// Words is how many words of sources are searched together, at least 1.
	Ranges, Words int
	// ChunkBytes limits the edges that a thread has in memory at a time, CacheBytes those that a
	// process keeps from one round to the next.
	ChunkBytes, CacheBytes int64
}

// EdgeShard is a file of edges with the SHA-256 of its content.
type EdgeShard struct{ URL, SHA256 string }

// rangeStart returns the first entity of the k-th of n equal ranges of the entities.
func (p JoinParams) rangeStart(k, n int) int32 {
	return int32((int64(k)*int64(p.Entities) + int64(n) - 1) / int64(n))
}

// Range returns the entities from..to-1 of the k-th range.
func (p JoinParams) Range(k int) (from, to int32) {
	return p.rangeStart(k, p.Ranges), p.rangeStart(k+1, p.Ranges)
}

// maxRange returns the most entities of a range.
func (p JoinParams) maxRange() int { return (p.Entities + p.Ranges - 1) / p.Ranges }

// blockSources returns how many sources are searched together: the size of each block but the last.
func (p JoinParams) blockSources() int { return p.Words * SourcesPerWord }

// blocks returns the number of blocks.
func (p JoinParams) blocks() int { return (p.Sources + p.blockSources() - 1) / p.blockSources() }

// block returns the sources of a block, as a span of all sources.
func (p JoinParams) block(block int) span {
	return span{block * p.blockSources(), min((block+1)*p.blockSources(), p.Sources)}
}

// key returns the key of a block and a range; splitKey is its inverse.
func (p JoinParams) key(block, entityRange int) int { return block*p.Ranges + entityRange }

func (p JoinParams) splitKey(key int) (block, entityRange int) { return key / p.Ranges, key % p.Ranges }

// maxSpanBytes limits the distances that are assembled at a time, a byte each.
const maxSpanBytes = 8 << 20

// span is the positions from..to-1 in the list of all sources.
type span struct{ from, to int }

// spans splits a span of one block into those whose rows are assembled together and written to a
// spill file. None crosses the border of a block or of a table.
func (p JoinParams) spans(s span) []span {
	rows := max(1, maxSpanBytes/p.Entities)
	var spans []span
	for s.from < s.to {
		end := min(s.to, s.from+rows, (s.from/p.PerTable+1)*p.PerTable)
		spans = append(spans, span{s.from, end})
		s.from = end
	}
	return spans
}

// tableSpans returns the spans of a table, in order.
func (p JoinParams) tableSpans(table int) []span {
	var spans []span
	from, to := table*p.PerTable, min((table+1)*p.PerTable, p.Sources)
	for block := from / p.blockSources(); block < p.blocks() && block*p.blockSources() < to; block++ {
		b := p.block(block)
		spans = append(spans, p.spans(span{max(b.from, from), min(b.to, to)})...)
	}
	return spans
}

// SpillFolder is the folder, below that of the tables, of the files that Join writes and Tables
// reads.
const SpillFolder = "spill"

// spillFile returns the URL of the spill file of the span that begins at a position.
func (p JoinParams) spillFile(from int) string {
	return storage.Join(p.Folder, SpillFolder, fmt.Sprintf("distances-%010d.arrow", from))
}
