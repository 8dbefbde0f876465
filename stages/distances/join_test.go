package distances

import (
	"context"
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/formats/tables"
	"tagnet/model/budget"
)

// TestHopsArePackedDistances compares with the packing of the tables.
func TestHopsArePackedDistances(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		h, distances := nothing, slices.Repeat([]uint8{tables.Unreached}, SourcesPerWord)
		var want uint64
		for hop := range uint8(tables.MaxHops + 1) {
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

// TestFrontierInElements holds that elements carry a frontier, several where it is large, and
// that what is not of a range is refused.
func TestFrontierInElements(t *testing.T) {
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
		"from later on": newFrontier(from+1, to, words), "to sooner": newFrontier(from, to-1, words), "fewer words": newFrontier(from, to, words-1),
	} {
		failed := false
		for _, element := range elements {
			failed = failed || other.add(element) != nil
		}
		if !failed {
			t.Errorf("%s: what is outside of a range is taken", name)
		}
	}
	if err := got.add([]byte("nonsense")); err == nil {
		t.Error("nonsense is taken")
	}
}

// TestAdvance holds that only what is reached for the first time stays in the frontier, and
// that the state has every hop, whichever rows it came in.
func TestAdvance(t *testing.T) {
	const from, to, words = 7, 17, 2
	var state [][]byte
	seen := map[int]uint64{}
	random := rand.New(rand.NewPCG(3, 3))
	var want [to - from][words * SourcesPerWord]uint8
	for o := range want {
		for i := range want[o] {
			want[o][i] = tables.Unreached
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

// iterate is an iterator of elements as Beam gives it.
func iterate(elements [][]byte) func(*[]byte) bool {
	return func(element *[]byte) bool {
		if len(elements) == 0 {
			return false
		}
		*element, elements = elements[0], elements[1:]
		return true
	}
}

// TestRunsHaveEveryEdge reads ranges of shards in runs of any size, and again from what is kept.
func TestRunsHaveEveryEdge(t *testing.T) {
	ctx := t.Context()
	random := rand.New(rand.NewPCG(4, 4))
	const entities = 500
	type edge struct{ tail, head int32 }
	want := map[edge]bool{}
	for range 3000 {
		want[edge{random.Int32N(entities) / 3 * 3, random.Int32N(entities)}] = true
	}
	p := JoinParams{Entities: entities, Edges: make([]EdgeShard, 4)}
	for k := range p.Edges {
		var e tables.Edges
		for o := p.first(k, 4); o < p.first(k+1, 4); o++ {
			for head := range int32(entities) {
				for r := range int32(2) { // parallel relations are one way
					if want[edge{o, head}] {
						e.Tails, e.Heads, e.Relations = append(e.Tails, o), append(e.Heads, head), append(e.Relations, r)
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
		for _, p.RunBytes = range []int64{0, 300, 4000, 1 << 20} {
			for _, p.KeptBytes = range []int64{0, 5000, 1 << 20} {
				got := map[edge]*run{}
				for of := range p.Ranges {
					from, to := p.Range(of)
					err := eachRun(ctx, p, of, func(r *run) error {
						if n := int64(len(r.senders)); n > 1 && bytesOfRun(n, int64(len(r.offsets)-1)) > p.RunBytes {
							t.Fatalf("%d ranges, %d bytes: a run of %d edges", p.Ranges, p.RunBytes, n)
						}
						for i := range len(r.offsets) - 1 {
							for _, head := range r.senders[r.offsets[i]:r.offsets[i+1]] {
								e := edge{r.first + int32(i), head}
								if got[e] == r || e.tail < from || e.tail >= to {
									t.Fatalf("edge %+v comes twice in a run, or in range %d", e, of)
								}
								got[e] = r
							}
						}
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				if len(got) != len(want) || !contains(want, got) {
					t.Errorf("%d ranges of %d bytes: %d edges, want %d", p.Ranges, p.RunBytes, len(got), len(want))
				}
				if kept.bytes > max(p.KeptBytes, 1<<20) {
					t.Errorf("%d bytes are kept", kept.bytes)
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

// TestPartsCoverTables holds that parts are all sources, each once and in order, none in two
// blocks or tables.
func TestPartsCoverTables(t *testing.T) {
	for _, p := range []JoinParams{
		{Entities: 10, Sources: 1000, PerFile: 300, Words: 2},
		{Entities: bytesPerPart / 7, Sources: 701, PerFile: 64, Words: 8},
		{Entities: 3 * bytesPerPart, Sources: 130, PerFile: 64, Words: 1},
	} {
		var byBlock, byTable []part
		for block := range p.blocks() {
			byBlock = append(byBlock, p.parts(p.sourcesOf(block))...)
		}
		for table := range (p.Sources + p.PerFile - 1) / p.PerFile {
			byTable = append(byTable, p.partsOf(table)...)
		}
		if !slices.Equal(byBlock, byTable) {
			t.Errorf("%+v: parts by block %v, by table %v", p, byBlock, byTable)
		}
		next := 0
		for _, part := range byBlock {
			last := part.to - 1
			if part.from != next || part.from/p.PerFile != last/p.PerFile || part.from/p.block() != last/p.block() {
				t.Errorf("%+v: part %v after %d", p, part, next)
			}
			if rows := part.to - part.from; rows > 1 && rows*p.Entities > bytesPerPart {
				t.Errorf("%+v: part %v is too large", p, part)
			}
			next = part.to
		}
		if next != p.Sources {
			t.Errorf("%+v: the parts end at %d", p, next)
		}
	}
}

// TestPlan holds that a plan is within its budget and within what a barrier takes, and that the
// least which an error names does.
func TestPlan(t *testing.T) {
	for _, s := range []Size{
		{1, 2, 1, 1, 1}, {14541, 544230, 10348, 40932, 1}, {40943, 173670, 5323, 6268, 1},
		{1 << 20, 20 << 20, 1000, 2000, 20}, {5 << 20, 100 << 20, 1000, 2000, 90},
	} {
		for _, local := range []bool{true, false} {
			for _, mib := range []int64{1, 230, 300, 1024, 12288} {
				p := JoinParams{Entities: int(s.Entities), Sources: int(s.Sources), PerFile: PerShard(int(s.Entities)), Edges: make([]EdgeShard, s.EdgeShards)}
				plan, wave, err := p.Plan(s, mib*budget.MiB, 2, local)
				var small *budget.TooSmall
				if errors.As(err, &small) {
					if small.Least <= mib*budget.MiB {
						t.Errorf("%+v: %d MiB are refused, %d would do", s, mib, small.Least/budget.MiB)
					}
					if plan, wave, err = p.Plan(s, small.Least, 2, local); err == nil {
						continue
					}
				}
				if err != nil {
					t.Errorf("%+v, local %v, %d MiB: %v", s, local, mib, err)
					continue
				}
				if _, err := plan.Need(s, wave*plan.Words, local).Divide(mib*budget.MiB, plan.Threads, 2); err != nil {
					t.Errorf("%+v: the plan %+v exceeds %d MiB: %v", s, plan, mib, err)
				}
				if bytes := plan.Barrier(wave*plan.Words, s.Edges); local && bytes > bytesPerBarrier {
					t.Errorf("%+v: a barrier of %d bytes", s, bytes)
				}
				if plan.Ranges < 1 || plan.Ranges > plan.Entities || wave < 1 || wave > plan.blocks() || !local && wave != plan.blocks() {
					t.Errorf("%+v: the plan is %+v, %d blocks", s, plan, wave)
				}
			}
		}
	}
	big := Size{1 << 28, 1 << 31, 10, 10, 1000}
	p := JoinParams{Entities: 1 << 28, Sources: 10, PerFile: 64, Edges: make([]EdgeShard, 1000)}
	if _, _, err := p.Plan(big, 1<<50, 2, true); err == nil || errors.As(err, new(*budget.TooSmall)) {
		t.Errorf("what the local runner cannot take is planned: %v", err)
	}
	if _, _, err := p.Plan(big, 12<<30, 2, false); err != nil {
		t.Errorf("elsewhere: %v", err)
	}
}

// TestBarrierIsABound compares what a round sends with what was planned for it.
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
	for _, run := range []int64{0, 3000, 1 << 20} {
		p := JoinParams{Entities: entities, Sources: 128, PerFile: 1000, Edges: []EdgeShard{{URL: url, SHA256: t.Name()}}, Ranges: 3, Words: 2, RunBytes: run}
		sent := int64(0)
		for of := range p.Ranges {
			from, to := p.Range(of)
			fresh := newFrontier(from, to, p.Words)
			for i := range fresh.bits {
				fresh.bits[i] = 1
			}
			if err := p.lead(ctx, 0, of, fresh, func(_ int, element []byte) { sent += int64(len(element)) }); err != nil {
				t.Fatal(err)
			}
		}
		if bound := p.Barrier(p.Words, int64(e.Len())); sent == 0 || sent > bound-stateRow*entities*2 {
			t.Errorf("runs of %d bytes: %d bytes are sent, the bound is %d", run, sent, bound)
		}
	}
}

// writeEdges writes edges as preprocess does.
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
