package distances

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/model/budget"
	"tagnet/model/joinsearch"
	"tagnet/stages/worker"
)

// sourceRounds counts, for each round, the sources whose round is complete.
var sourceRounds = worker.NewCounter("distance", "source_rounds")

// Join is Search for a graph that no worker holds. Input: blocks of sources as SearchBlocks makes them,
// all or some. Output: the number of rows that it wrote to files in SpillFolder, from which Tables
// makes the same bytes that Search writes.
//
// Each of the Hops + 1 rounds joins, by block of sources and range of entities, (1) the frontier:
// which sources reached which entities in the last hop, and (2) the state: the distances so far. It
// emits (3) the frontier of the next hop, the neighbors of the newly reached entities, and (4) the
// new state. After the last round the states are (5) transposed to rows by source, which are
// assembled from all ranges and written. An element is 2.4 MB at most.
func Join(s beam.Scope, blocks beam.PCollection, p JoinParams) beam.PCollection {
	s = s.Scope("distances.Join")
	frontiers, states, sources := beam.ParDo3(s, &seedFn{Params: p}, blocks)
	for hop := range p.Hops {
		r := s.Scope(fmt.Sprintf("round-%02d", hop))
		frontiers, states = beam.ParDo2(r, &roundFn{Params: p, Hop: hop}, beam.CoGroupByKey(r, frontiers, states))
	}
	rows := beam.ParDo(s, &transposeFn{Params: p}, beam.CoGroupByKey(s, frontiers, states))
	written := beam.ParDo(s, &assembleFn{Params: p}, beam.CoGroupByKey(s, sources, rows))
	return beam.ParDo(s, sumFn, beam.GroupByKey(s, beam.AddFixedKey(s, written)))
}

func init() {
	beam.RegisterDoFn(&seedFn{})
	beam.RegisterDoFn(&roundFn{})
	beam.RegisterDoFn(sumFn)
}

// JoinParams are the parameters of Join and Tables.
type JoinParams struct {
	SearchParams
	// Layout divides the search, PerTable as SourcesPerShard returns it. What Layout.Plan chooses changes no byte of the tables.
	Layout joinsearch.Layout
}

// SpillFolder is the folder, below that of the tables, of the files that Join writes and Tables
// reads.
const SpillFolder = "spill"

// spillFile returns the URL of the spill file of the span that begins at a position.
func (p JoinParams) spillFile(from int) string {
	return storage.Join(p.Folder, SpillFolder, fmt.Sprintf("distances-%010d.arrow", from))
}

// SearchBlocks splits all sources, in increasing order, into the blocks that Join takes.
func (p JoinParams) SearchBlocks(sources []int32) []Shard {
	blocks := make([]Shard, p.Layout.Blocks())
	for i := range blocks {
		b := p.Layout.Block(i)
		blocks[i] = Shard{Number: i, Of: len(blocks), Sources: sources[b.From:b.To]}
	}
	return blocks
}

// seedFn starts every search at its source.
type seedFn struct{ Params JoinParams }

// ProcessElement emits a block's sources as the first frontier, an empty state for every range, and
// the sources of each span, keyed by its first position.
func (f *seedFn) ProcessElement(block Shard, emitFrontier, emitState func(int, []byte), emitSources func(int, Shard)) error {
	all := f.Params.Layout.Block(block.Number)
	for _, s := range f.Params.Layout.Spans(all) {
		emitSources(s.From, Shard{Number: s.From, Of: f.Params.Layout.Sources, Sources: block.Sources[s.From-all.From : s.To-all.From]})
	}
	return f.Params.Layout.Seed(block.Number, block.Sources, emitFrontier, emitState)
}

// roundFn is one round of the join, for one block of sources and one range of entities.
type roundFn struct {
	Params JoinParams
	Hop    int
}

// Setup limits the memory of the worker.
func (f *roundFn) Setup() { budget.Limit(f.Params.Memory) }

// ProcessElement records what is reached for the first time, and emits its neighbors.
func (f *roundFn) ProcessElement(ctx context.Context, key int, frontiers, states func(*[]byte) bool, emitFrontier, emitState func(int, []byte)) error {
	ctx, leave, err := worker.Enter(ctx, f.Params.Threads)
	if err != nil {
		return err
	}
	defer leave()
	if err := f.Params.Layout.Round(ctx, key, f.Hop, frontiers, states, emitFrontier, emitState); err != nil {
		return err
	}
	f.Params.count(ctx, key)
	return nil
}

// count counts the sources of a block once per round, with its first range.
func (p JoinParams) count(ctx context.Context, key int) {
	if block, r := p.Layout.SplitKey(key); r == 0 {
		b := p.Layout.Block(block)
		sourceRounds.Inc(ctx, int64(b.To-b.From))
	}
}

// sumFn adds up the rows that were written.
func sumFn(_ int, rows func(*int) bool) int {
	sum, n := 0, 0
	for rows(&n) {
		sum += n
	}
	return sum
}
