package distances

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"tagnet/formats/tables"
)

// run is edges that lead to consecutive entities of a range: the entities at the other end of
// those to entity first+i are senders[offsets[i]:offsets[i+1]], increasing, each once. By
// reciprocity the edges of first+i also lead to them.
type run struct {
	first   int32
	offsets []int32
	senders []int32
}

// bytesOfRun bounds those of a run with so many edges to so many entities.
func bytesOfRun(edges, entities int64) int64 { return 4*edges + 4*(entities+1) }

func (r *run) bytes() int64 { return bytesOfRun(int64(cap(r.senders)), int64(cap(r.offsets))) }

// add appends an edge; they come by tail and head.
func (r *run) add(tail, head int32) {
	if len(r.senders) == 0 {
		r.first = tail
		r.offsets = append(r.offsets, 0, 0)
	}
	at := int(tail - r.first)
	for len(r.offsets) <= at+1 {
		r.offsets = append(r.offsets, int32(len(r.senders)))
	}
	if last := len(r.senders); last > int(r.offsets[at]) && r.senders[last-1] == head {
		return // another relation
	}
	r.senders = append(r.senders, head)
	r.offsets[at+1] = int32(len(r.senders))
}

// kept are the ranges of edges that a process keeps for the next block and the next round.
var kept struct {
	sync.Mutex
	bytes int64
	runs  map[string]*run
}

// eachRun reads the edges that lead to a range, in runs of at most RunBytes. A range that is
// small enough is one run, and kept while there is room. Without an edge there is no run.
func eachRun(ctx context.Context, p JoinParams, of int, each func(*run) error) error {
	var name strings.Builder
	fmt.Fprint(&name, of, " ", p.Ranges, " ", p.Entities, " ", p.RunBytes)
	for _, k := range p.shardsOf(of) {
		fmt.Fprint(&name, " ", k, " ", p.Edges[k].SHA256, " ", p.Edges[k].URL)
	}
	kept.Lock()
	if r := kept.runs[name.String()]; r != nil {
		kept.Unlock()
		return each(r)
	}
	kept.Unlock()
	reader := &runReader{params: p, of: of, each: each}
	reader.from, reader.to = p.Range(of)
	reader.most = int(max(1, (p.RunBytes-bytesOfRun(0, int64(reader.to-reader.from)))/4))
	if err := reader.read(ctx); err != nil {
		return err
	}
	if reader.runs == 1 {
		keep(name.String(), reader.last, p.KeptBytes)
	}
	return nil
}

// keep keeps a run if it is not too large, in place of others where there is no room.
func keep(name string, r *run, most int64) {
	r.senders, r.offsets = slices.Clip(r.senders), slices.Clip(r.offsets)
	if r.bytes() > most {
		return
	}
	kept.Lock()
	defer kept.Unlock()
	if kept.runs == nil {
		kept.runs = map[string]*run{}
	}
	if kept.runs[name] != nil {
		return
	}
	for other, old := range kept.runs {
		if kept.bytes+r.bytes() <= most {
			break
		}
		kept.bytes -= old.bytes()
		delete(kept.runs, other)
	}
	kept.runs[name] = r
	kept.bytes += r.bytes()
}

// shardsOf are the shards with edges to a range.
func (p JoinParams) shardsOf(of int) []int {
	from, to := p.Range(of)
	var shards []int
	for k := range p.Edges {
		if p.first(k, len(p.Edges)) < to && p.first(k+1, len(p.Edges)) > from {
			shards = append(shards, k)
		}
	}
	return shards
}

// runReader makes runs of the edges to a range, batch by batch.
type runReader struct {
	params   JoinParams
	of       int
	from, to int32
	most     int // edges of a run
	each     func(*run) error

	now, last *run
	runs      int
}

func (r *runReader) read(ctx context.Context) error {
	for _, k := range r.params.shardsOf(r.of) {
		if err := r.readShard(ctx, k); err != nil {
			return err
		}
	}
	return r.flush()
}

// flush hands on the run at hand.
func (r *runReader) flush() error {
	if r.now == nil {
		return nil
	}
	r.runs, r.last, r.now = r.runs+1, r.now, nil
	return r.each(r.last)
}

// readShard adds the edges that a shard has.
func (r *runReader) readShard(ctx context.Context, k int) error {
	shard := edgeShard{url: r.params.Edges[k].URL, entities: r.params.Entities, last: -1}
	shard.from, shard.to = r.params.first(k, len(r.params.Edges)), r.params.first(k+1, len(r.params.Edges))
	reader, err := tables.OpenEdges(ctx, shard.url)
	if err != nil {
		return err
	}
	defer reader.Close()
	first := 0 // whoever has a shard's first entities sees whether there are edges before them
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

// add adds those edges of a batch that are of the range.
func (r *runReader) add(e tables.Edges) error {
	from, _ := slices.BinarySearch(e.Tails, r.from)
	to, _ := slices.BinarySearch(e.Tails, r.to)
	for i := from; i < to; i++ {
		if r.now == nil {
			r.now = &run{senders: make([]int32, 0, min(r.most, to-i))}
		}
		r.now.add(e.Tails[i], e.Heads[i])
		if len(r.now.senders) >= r.most {
			if err := r.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// edgeShard holds what is known of a shard that is being read.
type edgeShard struct {
	url      string
	from, to int32 // the entities that its edges lead to, from..to-1
	entities int
	last     int32 // tail of the last edge, -1 before the first
}

// check holds that a batch's edges are of the graph and of the shard.
func (s *edgeShard) check(e tables.Edges) error {
	if e.Tails[0] < s.last {
		return fmt.Errorf("reading %s: an edge to entity %d comes after one to %d; the file is damaged, preprocess again", s.url, e.Tails[0], s.last)
	}
	s.last = e.Tails[e.Len()-1]
	for _, tail := range []int32{e.Tails[0], s.last} {
		if tail < s.from || tail >= s.to {
			return fmt.Errorf("reading %s: it has an edge to entity %d, outside of its range %d to %d; preprocess again", s.url, tail, s.from, s.to-1)
		}
	}
	for i, head := range e.Heads {
		if int(head) >= s.entities {
			return fmt.Errorf("reading %s: an edge to entity %d comes from entity %d of %d; preprocess again", s.url, e.Tails[i], head, s.entities)
		}
	}
	return nil
}
