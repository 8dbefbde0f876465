package joinsearch

// SourcesPerWord is how many sources share a machine word, a bit each.
const SourcesPerWord = 64

// Layout divides a search. Ranges, Words, ChunkBytes and CacheBytes, which
// Plan chooses, change no distance.
type Layout struct {
	// Entities is the number V of entities.
	Entities int
	// Edges are the shards of the graph's edges, in order: shard k has those that lead to the
	// k-th of equal ranges of entities.
	Edges []EdgeShard
	// Sources is how many sources there are in all, PerTable how many a table has.
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
func (l Layout) rangeStart(k, n int) int32 {
	return int32((int64(k)*int64(l.Entities) + int64(n) - 1) / int64(n))
}

// Range returns the entities from..to-1 of the k-th range.
func (l Layout) Range(k int) (from, to int32) {
	return l.rangeStart(k, l.Ranges), l.rangeStart(k+1, l.Ranges)
}

// maxRange returns the most entities of a range.
func (l Layout) maxRange() int { return (l.Entities + l.Ranges - 1) / l.Ranges }

// BlockSources returns how many sources are searched together: the size of each block but the last.
func (l Layout) BlockSources() int { return l.Words * SourcesPerWord }

// Blocks returns the number of blocks.
func (l Layout) Blocks() int { return (l.Sources + l.BlockSources() - 1) / l.BlockSources() }

// Block returns the sources of a block, as a span of all sources.
func (l Layout) Block(block int) Span {
	return Span{block * l.BlockSources(), min((block+1)*l.BlockSources(), l.Sources)}
}

// Key returns the key of a block and a range.
func (l Layout) Key(block, entityRange int) int { return block*l.Ranges + entityRange }

// SplitKey is the inverse of Key.
func (l Layout) SplitKey(key int) (block, entityRange int) { return key / l.Ranges, key % l.Ranges }

// maxSpanBytes limits the distances that are assembled at a time, a byte each.
const maxSpanBytes = 8 << 20

// Span is the positions From..To-1 in the list of all sources.
type Span struct{ From, To int }

// Spans splits a span of one block into those whose rows are assembled together and written to a
// spill file. None crosses the border of a block or of a table.
func (l Layout) Spans(s Span) []Span {
	rows := max(1, maxSpanBytes/l.Entities)
	var spans []Span
	for s.From < s.To {
		end := min(s.To, s.From+rows, (s.From/l.PerTable+1)*l.PerTable)
		spans = append(spans, Span{s.From, end})
		s.From = end
	}
	return spans
}

// TableSpans returns the spans of a table, in order.
func (l Layout) TableSpans(table int) []Span {
	var spans []Span
	from, to := table*l.PerTable, min((table+1)*l.PerTable, l.Sources)
	for block := from / l.BlockSources(); block < l.Blocks() && block*l.BlockSources() < to; block++ {
		b := l.Block(block)
		spans = append(spans, l.Spans(Span{max(b.From, from), min(b.To, to)})...)
	}
	return spans
}
