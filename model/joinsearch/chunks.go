package joinsearch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tagnet/formats/remedy"
	"tagnet/formats/tables"
)

// edgeChunk is the adjacency lists of consecutive entities of a range, or a part of them: the
// neighbors of entity first+i are neighbors[offsets[i]:offsets[i+1]], increasing and distinct.
// They are read from the edges that lead to first+i; the inverse relations make them those that
// its own edges lead to.
type edgeChunk struct {
	first     int32
	offsets   []int32
	neighbors []int32
}

// chunkBytes returns the memory of a chunk of so many edges to so many entities.
func chunkBytes(edges, entities int64) int64 { return 4*edges + 4*(entities+1) }

func (c *edgeChunk) bytes() int64 {
	return chunkBytes(int64(cap(c.neighbors)), int64(cap(c.offsets)))
}

// add appends an edge. Edges come in the order of tail and head.
func (c *edgeChunk) add(tail, head int32) {
	if len(c.neighbors) == 0 {
		c.first = tail
		c.offsets = append(c.offsets, 0, 0)
	}
	i := int(tail - c.first)
	for len(c.offsets) <= i+1 {
		c.offsets = append(c.offsets, int32(len(c.neighbors)))
	}
	if last := len(c.neighbors); last > int(c.offsets[i]) && c.neighbors[last-1] == head {
		return // another relation between the same entities
	}
	c.neighbors = append(c.neighbors, head)
	c.offsets[i+1] = int32(len(c.neighbors))
}

// chunkCache holds chunks that are whole ranges, for the next block and the next round. It is
// shared by all elements of the process.
var chunkCache struct {
	sync.Mutex
	bytes  int64
	chunks map[string]*edgeChunk
}

// cachedChunk returns the chunk of that name, or nil.
func cachedChunk(name string) *edgeChunk {
	chunkCache.Lock()
	defer chunkCache.Unlock()
	return chunkCache.chunks[name]
}

// cacheChunk puts a chunk into the cache, which holds at most so many bytes, and removes others if
// there is not enough memory left.
func cacheChunk(name string, c *edgeChunk, limit int64) {
	c.neighbors, c.offsets = slices.Clip(c.neighbors), slices.Clip(c.offsets)
	if c.bytes() > limit {
		return
	}
	chunkCache.Lock()
	defer chunkCache.Unlock()
	if chunkCache.chunks == nil {
		chunkCache.chunks = map[string]*edgeChunk{}
	}
	if chunkCache.chunks[name] != nil {
		return
	}
	for other, old := range chunkCache.chunks {
		if chunkCache.bytes+c.bytes() <= limit {
			break
		}
		chunkCache.bytes -= old.bytes()
		delete(chunkCache.chunks, other)
	}
	chunkCache.chunks[name] = c
	chunkCache.bytes += c.bytes()
}

// eachChunk calls each with the edges of a range, in chunks of at most ChunkBytes. A range that is
// one chunk is cached. A range without edges has no chunk.
func eachChunk(ctx context.Context, l Layout, entityRange int, each func(*edgeChunk) error) error {
	var name strings.Builder
	fmt.Fprint(&name, entityRange, " ", l.Ranges, " ", l.Entities, " ", l.ChunkBytes)
	for _, k := range l.shardsOf(entityRange) {
		fmt.Fprint(&name, " ", k, " ", l.Edges[k].SHA256, " ", l.Edges[k].URL)
	}
	if c := cachedChunk(name.String()); c != nil {
		return each(c)
	}
	reader := &chunkReader{layout: l, each: each}
	reader.from, reader.to = l.Range(entityRange)
	reader.maxEdges = int(max(1, (l.ChunkBytes-chunkBytes(0, int64(reader.to-reader.from)))/4))
	for _, k := range l.shardsOf(entityRange) {
		if err := reader.readShard(ctx, k); err != nil {
			return err
		}
	}
	if err := reader.flush(); err != nil {
		return err
	}
	if reader.chunks == 1 {
		cacheChunk(name.String(), reader.last, l.CacheBytes)
	}
	return nil
}

// shardsOf returns the shards that have edges to a range.
func (l Layout) shardsOf(entityRange int) []int {
	from, to := l.Range(entityRange)
	var shards []int
	for k := range l.Edges {
		if l.rangeStart(k, len(l.Edges)) < to && l.rangeStart(k+1, len(l.Edges)) > from {
			shards = append(shards, k)
		}
	}
	return shards
}

// chunkReader makes chunks of the edges to a range, batch by batch.
type chunkReader struct {
	layout   Layout
	from, to int32
	maxEdges int // edges of a chunk
	each     func(*edgeChunk) error

	current, last *edgeChunk
	chunks        int
}

// flush passes the current chunk on.
func (r *chunkReader) flush() error {
	if r.current == nil {
		return nil
	}
	r.chunks, r.last, r.current = r.chunks+1, r.current, nil
	return r.each(r.last)
}

// readShard adds the edges of a shard.
func (r *chunkReader) readShard(ctx context.Context, k int) error {
	shard := edgeShard{url: r.layout.Edges[k].URL, entities: r.layout.Entities, last: -1}
	shard.from, shard.to = r.layout.rangeStart(k, len(r.layout.Edges)), r.layout.rangeStart(k+1, len(r.layout.Edges))
	reader, err := tables.OpenEdges(ctx, shard.url)
	if err != nil {
		return err
	}
	defer reader.Close()
	first := 0 // a range that begins with the shard checks that no edges precede it
	if r.from > shard.from {
		if first, err = reader.Find(r.from); err != nil {
			return err
		}
	}
	for i := first; i < reader.Batches(); i++ {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("reading %s: %w", shard.url, err)
		}
		e, err := reader.Batch(i)
		if err != nil {
			return err
		}
		if err := shard.check(e); err != nil {
			return err
		}
		if e.Tails[0] >= r.to {
			break
		}
		if err := r.add(e); err != nil {
			return err
		}
	}
	return nil
}

// add adds those edges of a batch that lead to the range.
func (r *chunkReader) add(e tables.Edges) error {
	from, _ := slices.BinarySearch(e.Tails, r.from)
	to, _ := slices.BinarySearch(e.Tails, r.to)
	for i := from; i < to; i++ {
		if r.current == nil {
			r.current = &edgeChunk{neighbors: make([]int32, 0, min(r.maxEdges, to-i))}
		}
		r.current.add(e.Tails[i], e.Heads[i])
		if len(r.current.neighbors) >= r.maxEdges {
			if err := r.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// edgeShard is what is known of a shard while it is read.
type edgeShard struct {
	url      string
	from, to int32 // the entities that its edges lead to, from..to-1
	entities int
	last     int32 // tail of the last edge, -1 before the first
}

// check returns an error unless a batch's edges belong to the graph and to the shard.
func (s *edgeShard) check(e tables.Edges) error {
	if e.Tails[0] < s.last {
		return remedy.Errorf("run preprocess --force", "reading %s: an edge to entity %d follows one to entity %d: the file is damaged", s.url, e.Tails[0], s.last)
	}
	s.last = e.Tails[e.Len()-1]
	for _, tail := range []int32{e.Tails[0], s.last} {
		if tail < s.from || tail >= s.to {
			return remedy.Errorf("run preprocess --force", "reading %s: an edge to entity %d is out of the file's range %d to %d", s.url, tail, s.from, s.to-1)
		}
	}
	for i, head := range e.Heads {
		if int(head) >= s.entities {
			return remedy.Errorf("run preprocess --force", "reading %s: an edge to entity %d comes from entity %d, the graph has %d", s.url, e.Tails[i], head, s.entities)
		}
	}
	return nil
}
