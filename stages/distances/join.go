package distances

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/model/budget"
	"tagnet/stages/worker"
)

// sourceRounds counts, for each round, the sources whose round is complete.
var sourceRounds = worker.NewCounter("distance", "source_rounds")

// Join is Search for a graph that no worker holds. Input: blocks of sources as Blocks makes them,
// all or some. Output: the number of rows that it wrote to files in SpillFolder, from which Tables
// makes the same bytes that Search writes.
//
// Each of the Hops + 1 rounds joins, by block of sources and range of entities, (1) the frontier:
// which sources reached which entities in the last hop, and (2) the state: the distances so far. It
// emits (3) the frontier of the next hop, the neighbours of the newly reached entities, and (4) the
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

// Blocks splits all sources, in increasing order, into the blocks that Join takes.
func (p JoinParams) Blocks(sources []int32) []Shard {
	blocks := make([]Shard, p.blocks())
	for i := range blocks {
		b := p.block(i)
		blocks[i] = Shard{Number: i, Of: len(blocks), Sources: sources[b.from:b.to]}
	}
	return blocks
}

// seedFn starts every search at its source.
type seedFn struct{ Params JoinParams }

// ProcessElement emits a block's sources as the first frontier, an empty state for every range, and
// the sources of each span, keyed by its first position.
func (f *seedFn) ProcessElement(block Shard, emitFrontier, emitState func(int, []byte), emitSources func(int, Shard)) error {
	for r := range f.Params.Ranges {
		from, to := f.Params.Range(r)
		key := f.Params.key(block.Number, r)
		seeds := newFrontier(from, to, f.Params.Words)
		for i, source := range block.Sources {
			if source >= from && source < to {
				seeds.words(source)[i/SourcesPerWord] |= 1 << (i % SourcesPerWord)
			}
		}
		if err := seeds.encode(func(element []byte) { emitFrontier(key, element) }); err != nil {
			return err
		}
		emitState(key, []byte{})
	}
	all := f.Params.block(block.Number)
	for _, s := range f.Params.spans(all) {
		emitSources(s.from, Shard{Number: s.from, Of: f.Params.Sources, Sources: block.Sources[s.from-all.from : s.to-all.from]})
	}
	return nil
}

// roundFn is one round of the join, for one block of sources and one range of entities.
type roundFn struct {
	Params JoinParams
	Hop    int
}

// Setup limits the memory of the worker.
func (f *roundFn) Setup() { budget.Limit(f.Params.Memory) }

// ProcessElement records what is reached for the first time, and emits its neighbours.
func (f *roundFn) ProcessElement(ctx context.Context, key int, frontiers, states func(*[]byte) bool, emitFrontier, emitState func(int, []byte)) error {
	defer acquire(f.Params.Threads)()
	block, r := f.Params.splitKey(key)
	fresh, err := f.Params.readFrontier(r, frontiers)
	if err != nil {
		return err
	}
	state := &stateWriter{send: func(element []byte) { emitState(key, element) }}
	if err := advance(fresh, uint8(f.Hop), states, state.add); err != nil {
		return err
	}
	if err := state.close(); err != nil {
		return err
	}
	if err := f.Params.expand(ctx, block, r, fresh, emitFrontier); err != nil {
		return err
	}
	f.Params.count(ctx, block, r)
	return nil
}

// readFrontier merges the elements of a range's frontier.
func (p JoinParams) readFrontier(r int, elements func(*[]byte) bool) (*frontier, error) {
	from, to := p.Range(r)
	reached := newFrontier(from, to, p.Words)
	var element []byte
	for elements(&element) {
		if err := reached.add(element); err != nil {
			return nil, err
		}
	}
	return reached, nil
}

// count counts the sources of a block once per round, with its first range.
func (p JoinParams) count(ctx context.Context, block, r int) {
	if r == 0 {
		b := p.block(block)
		sourceRounds.Inc(ctx, int64(b.to-b.from))
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
