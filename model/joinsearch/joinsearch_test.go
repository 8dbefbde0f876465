package joinsearch

import (
	"context"
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/formats/reach"
	"tagnet/formats/tables"
	"tagnet/model/budget"
)

// TestHopsArePackedDistances compares hops with tables.Pack.
func TestHopsArePackedDistances(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		h, distances := noHops, slices.Repeat([]uint8{reach.Unreached}, SourcesPerWord)
		var want uint64
		for hop := range uint8(reach.Most + 1) {
			sources := random.Uint64() & random.Uint64() & random.Uint64() &^ want
			h.set(sources, hop)
			want |= sources
			for ; sources != 0; sources &= sources - 1 {
				distances[bits.TrailingZeros64(sources)] = hop
			}
			if got := h.reached(); got != want {
				t.Fatalf("reached %064b, want %064b", got, want)
			}
		}
		if !slices.Equal(h[:], tables.Pack(distances)) {
			t.Fatalf("%x, want %x", h, tables.Pack(distances))
		}
	}
}

// TestFrontierElements checks that elements carry a frontier, several if it is large, and that rows
// out of range are an error.
func TestFrontierElements(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	const from, to, words = 1000, 1000 + rowsPerElement, 3
	want := newFrontier(from, to, words)
	for i := range want.bits {
		if random.IntN(4) > 0 {
			want.bits[i] = random.Uint64()
		}
	}
	var elements [][]byte
	if err := want.encode(func(element []byte) { elements = append(elements, element) }); err != nil {
		t.Fatal(err)
	}
	if len(elements) != 3 {
		t.Errorf("%d elements", len(elements))
	}
	got := newFrontier(from, to, words)
	for _, element := range elements {
		if len(element) > frontierRow*rowsPerElement+1<<10 {
			t.Errorf("an element has %d bytes", len(element))
		}
		if err := got.add(element); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(got.bits, want.bits) {
		t.Error("the frontiers differ")
	}
	for name, other := range map[string]*frontier{
		"later start": newFrontier(from+1, to, words), "earlier end": newFrontier(from, to-1, words), "fewer words": newFrontier(from, to, words-1),
	} {
		failed := false
		for _, element := range elements {
			failed = failed || other.add(element) != nil
		}
		if !failed {
			t.Errorf("%s: no error for rows out of range", name)
		}
	}
	if err := got.add([]byte("nonsense")); err == nil {
		t.Error("no error for an element of another format")
	}
}

// TestAdvance checks that only what is reached for the first time stays in the frontier, and that
// the state has every hop.
func TestAdvance(t *testing.T) {
	const from, to, words = 7, 17, 2
	var state [][]byte
	seen := map[int]uint64{}
	random := rand.New(rand.NewPCG(3, 3))
	var want [to - from][words * SourcesPerWord]uint8
	for o := range want {
		for i := range want[o] {
			want[o][i] = reach.Unreached
		}
	}
	for hop := range uint8(5) {
		reached := newFrontier(from, to, words)
		fresh := make([]uint64, len(reached.bits))
		for at := range reached.bits {
			reached.bits[at] = random.Uint64() & random.Uint64() & uint64(-random.Int64N(2))
			fresh[at] = reached.bits[at] &^ seen[at]
			seen[at] |= fresh[at]
			for i := range SourcesPerWord {
				if fresh[at]>>i&1 == 1 {
					want[at/words][at%words*SourcesPerWord+i] = hop
				}
			}
		}
		var next [][]byte
		w := &stateWriter{send: func(element []byte) { next = append(next, element) }}
		if err := advance(reached, hop, iterate(state), w.add); err != nil {
			t.Fatal(err)
		}
		if err := w.close(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(reached.bits, fresh) {
			t.Fatalf("hop %d: fresh are %x, want %x", hop, reached.bits, fresh)
		}
		state = next
	}
	err := advance(newFrontier(from, to, words), 9, iterate(state), func(entity int32, word uint8, h *hops) error {
		row := want[entity-from][int(word)*SourcesPerWord:][:SourcesPerWord]
		if !slices.Equal(h[:], tables.Pack(row)) {
			t.Errorf("entity %d word %d: %x, want %x", entity, word, *h, tables.Pack(row))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// iterate returns an iterator over elements, such as Beam's.
func iterate(elements [][]byte) func(*[]byte) bool {
	return func(element *[]byte) bool {
		if len(elements) == 0 {
			return false
		}
		*element, elements = elements[0], elements[1:]
		return true
	}
}

// TestChunksHaveEveryEdge reads ranges of shards in chunks of any size, and again from the cache.
func TestChunksHaveEveryEdge(t *testing.T) {
	ctx := t.Context()
	random := rand.New(rand.NewPCG(4, 4))
	const entities = 500
	type edge struct{ tail, head int32 }
	want := map[edge]bool{}
	for range 3000 {
		want[edge{random.Int32N(entities) / 3 * 3, random.Int32N(entities)}] = true
	}
	p := Layout{Entities: entities, Edges: make([]EdgeShard, 4)}
	for k := range p.Edges {
		var e tables.Edges
		for o := p.rangeStart(k, 4); o < p.rangeStart(k+1, 4); o++ {
			for head := range int32(entities) {
				for relation := range int32(2) { // parallel edges count once
					if want[edge{o, head}] {
						e.Tails, e.Heads, e.Relations = append(e.Tails, o), append(e.Heads, head), append(e.Relations, relation)
					}
				}
			}
		}
		p.Edges[k] = EdgeShard{"mem://" + t.Name() + "/" + string(rune('a'+k)), t.Name()}
		if err := writeEdges(ctx, p.Edges[k].URL, e); err != nil {
			t.Fatal(err)
		}
	}
	for _, p.Ranges = range []int{1, 3, 4, 11, 500} {
		for _, p.ChunkBytes = range []int64{0, 300, 4000, 1 << 20} {
			for _, p.CacheBytes = range []int64{0, 5000, 1 << 20} {
				got := map[edge]*edgeChunk{}
				for r := range p.Ranges {
					from, to := p.Range(r)
					err := eachChunk(ctx, p, r, func(c *edgeChunk) error {
						if n := int64(len(c.neighbors)); n > 1 && chunkBytes(n, int64(len(c.offsets)-1)) > p.ChunkBytes {
							t.Fatalf("%d ranges, %d bytes: a chunk of %d edges", p.Ranges, p.ChunkBytes, n)
						}
						for i := range len(c.offsets) - 1 {
							for _, head := range c.neighbors[c.offsets[i]:c.offsets[i+1]] {
								e := edge{c.first + int32(i), head}
								if got[e] == c || e.tail < from || e.tail >= to {
									t.Fatalf("edge %+v comes twice in a chunk, or in range %d", e, r)
								}
								got[e] = c
							}
						}
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				if len(got) != len(want) || !contains(want, got) {
					t.Errorf("%d ranges of %d bytes: %d edges, want %d", p.Ranges, p.ChunkBytes, len(got), len(want))
				}
				if chunkCache.bytes > max(p.CacheBytes, 1<<20) {
					t.Errorf("the cache has %d bytes", chunkCache.bytes)
				}
			}
		}
	}
}

func contains[K comparable, A, B any](whole map[K]A, some map[K]B) bool {
	for k := range some {
		if _, ok := whole[k]; !ok {
			return false
		}
	}
	return true
}

// TestSpansCoverTables checks that spans have each source once and in order, and that none crosses the
// border of a block or a table.
func TestSpansCoverTables(t *testing.T) {
	for _, p := range []Layout{
		{Entities: 10, Sources: 1000, PerTable: 300, Words: 2},
		{Entities: maxSpanBytes / 7, Sources: 701, PerTable: 64, Words: 8},
		{Entities: 3 * maxSpanBytes, Sources: 130, PerTable: 64, Words: 1},
	} {
		var byBlock, byTable []Span
		for block := range p.Blocks() {
			byBlock = append(byBlock, p.Spans(p.Block(block))...)
		}
		for table := range (p.Sources + p.PerTable - 1) / p.PerTable {
			byTable = append(byTable, p.TableSpans(table)...)
		}
		if !slices.Equal(byBlock, byTable) {
			t.Errorf("%+v: spans by block %v, by table %v", p, byBlock, byTable)
		}
		next := 0
		for _, s := range byBlock {
			last := s.To - 1
			if s.From != next || s.From/p.PerTable != last/p.PerTable || s.From/p.BlockSources() != last/p.BlockSources() {
				t.Errorf("%+v: span %v after %d", p, s, next)
			}
			if rows := s.To - s.From; rows > 1 && rows*p.Entities > maxSpanBytes {
				t.Errorf("%+v: span %v is too large", p, s)
			}
			next = s.To
		}
		if next != p.Sources {
			t.Errorf("%+v: the spans end at %d", p, next)
		}
	}
}

// TestPlan checks that a plan keeps within its memory budget and the limit of a barrier, and that
// the least budget which an error names is enough.
func TestPlan(t *testing.T) {
	for _, s := range []budget.Sizes{
		{Entities: 1, Edges: 2, Sources: 1, Queries: 1, EdgeFiles: 1},
		{Entities: 14541, Edges: 544230, Sources: 10348, Queries: 40932, EdgeFiles: 1},
		{Entities: 40943, Edges: 173670, Sources: 5323, Queries: 6268, EdgeFiles: 1},
		{Entities: 1 << 20, Edges: 20 << 20, Sources: 1000, Queries: 2000, EdgeFiles: 20},
		{Entities: 5 << 20, Edges: 100 << 20, Sources: 1000, Queries: 2000, EdgeFiles: 90},
	} {
		for _, local := range []bool{true, false} {
			for _, mib := range []int64{1, 230, 300, 1024, 12288} {
				p := Layout{Entities: int(s.Entities), Sources: int(s.Sources), PerTable: 512, Edges: make([]EdgeShard, s.EdgeFiles)}
				plan, threads, perPipeline, err := p.Plan(s, mib*budget.MiB, 2, local)
				var small *budget.TooSmall
				if errors.As(err, &small) {
					if small.Least <= mib*budget.MiB {
						t.Errorf("%+v: %d MiB are an error, but %d are enough", s, mib, small.Least/budget.MiB)
					}
					if plan, threads, perPipeline, err = p.Plan(s, small.Least, 2, local); err == nil {
						continue
					}
				}
				if err != nil {
					t.Errorf("%+v, local %v, %d MiB: %v", s, local, mib, err)
					continue
				}
				if _, err := plan.estimate(s, perPipeline*plan.Words, local).Plan(mib*budget.MiB, threads, 2); err != nil {
					t.Errorf("%+v: the plan %+v exceeds %d MiB: %v", s, plan, mib, err)
				}
				if bytes := plan.Barrier(perPipeline*plan.Words, s.Edges); local && bytes > maxBarrierBytes {
					t.Errorf("%+v: a barrier of %d bytes", s, bytes)
				}
				if plan.Ranges < 1 || plan.Ranges > plan.Entities || perPipeline < 1 || perPipeline > plan.Blocks() || !local && perPipeline != plan.Blocks() {
					t.Errorf("%+v: the plan is %+v, %d blocks", s, plan, perPipeline)
				}
			}
		}
	}
	big := budget.Sizes{Entities: 1 << 28, Edges: 1 << 31, Sources: 10, Queries: 10, EdgeFiles: 1000}
	p := Layout{Entities: 1 << 28, Sources: 10, PerTable: 64, Edges: make([]EdgeShard, 1000)}
	if _, _, _, err := p.Plan(big, 1<<50, 2, true); err == nil || errors.As(err, new(*budget.TooSmall)) {
		t.Errorf("a plan for more than the local runner takes: %v", err)
	}
	if _, _, _, err := p.Plan(big, 12<<30, 2, false); err != nil {
		t.Errorf("elsewhere: %v", err)
	}
}

// TestBarrierIsABound compares the bytes that a round emits with the estimate.
func TestBarrierIsABound(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	ctx, url := context.Background(), "mem://"+t.Name()+"/edges"
	const entities, degree = 2000, 4
	var e tables.Edges
	for o := range int32(entities) {
		heads := make([]int32, degree)
		for i := range heads {
			heads[i] = random.Int32N(entities)
		}
		slices.Sort(heads)
		e.Tails, e.Heads, e.Relations = append(e.Tails, o, o, o, o), append(e.Heads, heads...), append(e.Relations, 0, 1, 2, 3)
	}
	if err := writeEdges(ctx, url, e); err != nil {
		t.Fatal(err)
	}
	for _, chunk := range []int64{0, 3000, 1 << 20} {
		p := Layout{Entities: entities, Sources: 128, PerTable: 1000, Edges: []EdgeShard{{URL: url, SHA256: t.Name()}}, Ranges: 3, Words: 2, ChunkBytes: chunk}
		sent := int64(0)
		for r := range p.Ranges {
			from, to := p.Range(r)
			fresh := newFrontier(from, to, p.Words)
			for i := range fresh.bits {
				fresh.bits[i] = 1
			}
			if err := p.expand(ctx, 0, r, fresh, func(_ int, element []byte) { sent += int64(len(element)) }); err != nil {
				t.Fatal(err)
			}
		}
		if bound := p.Barrier(p.Words, int64(e.Len())); sent == 0 || sent > bound-stateRow*entities*2 {
			t.Errorf("chunks of %d bytes: %d bytes are sent, the bound is %d", chunk, sent, bound)
		}
	}
}

// writeEdges writes edges in the format of preprocess.
func writeEdges(ctx context.Context, url string, e tables.Edges) error {
	w, err := tables.CreateEdges(ctx, url)
	if err != nil {
		return err
	}
	defer w.Abort()
	for i, tail := range e.Tails {
		if err := w.Write(tail, e.Relations[i], e.Heads[i]); err != nil {
			return err
		}
	}
	return w.Commit()
}
