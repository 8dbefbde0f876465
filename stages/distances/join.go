package distances

import (
	"context"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/stages/counter"
)

// sourceRounds counts, for each round, the sources that went through it.
var sourceRounds = counter.New("distance", "source_rounds")

// Join is the search of Search for a graph that no worker holds: rounds of a join between what
// a hop reaches and the edges that lead on from there. Input: blocks of sources, as Blocks
// makes them, all or some. Output: the number of rows in the files below PartsFolder that it
// wrote, of which Tables then makes tables with the same bytes as those of Search.
//
// Each of the Hops + 1 rounds joins, by block of sources and range of entities: (1) what the
// last hop reached, a word of sources for each entity, and (2) the state, the distances so far,
// 4 bits each for the entities that are reached. What is reached for the first time gives (3)
// what it reaches next, merged by entity, and goes into (4) the new state. After the last round
// the states become (5) rows by source, a piece for each range, which are put together and
// written. An element is 2.4 MB at most.
func Join(s beam.Scope, blocks beam.PCollection, p JoinParams) beam.PCollection {
	s = s.Scope("distance.Join")
	reached, state, sources := beam.ParDo3(s, &seedFn{Params: p}, blocks)
	for hop := range p.Hops {
		r := s.Scope(fmt.Sprintf("round-%02d", hop))
		reached, state = beam.ParDo2(r, &roundFn{Params: p, Hop: hop}, beam.CoGroupByKey(r, reached, state))
	}
	pieces := beam.ParDo(s, &lastRoundFn{Params: p}, beam.CoGroupByKey(s, reached, state))
	written := beam.ParDo(s, &partFn{Params: p}, beam.CoGroupByKey(s, sources, pieces))
	return beam.ParDo(s, sumFn, beam.GroupByKey(s, beam.AddFixedKey(s, written)))
}

func init() {
	beam.RegisterDoFn(&seedFn{})
	beam.RegisterDoFn(&roundFn{})
	beam.RegisterDoFn(&lastRoundFn{})
	beam.RegisterDoFn(&partFn{})
	beam.RegisterDoFn(sumFn)
	beam.RegisterType(reflect.TypeOf((*Piece)(nil)).Elem())
}

// Blocks are the elements that Join takes: all sources, in increasing order, cut into blocks.
func (p JoinParams) Blocks(sources []int32) ([][]byte, error) {
	shards := make([]Shard, p.blocks())
	for i := range shards {
		from, to := p.sourcesOf(i)
		shards[i] = Shard{Number: i, Of: len(shards), Sources: sources[from:to]}
	}
	return EncodeShards(shards)
}

// seedFn starts every search at its source.
type seedFn struct{ Params JoinParams }

// ProcessElement reaches a block's sources, gives every range an empty state, and sends the
// sources to the parts that their rows will be written in.
func (f *seedFn) ProcessElement(element []byte, emit, emitState, emitSources func(int, []byte)) error {
	var block Shard
	if err := block.Decode(element); err != nil {
		return err
	}
	for of := range f.Params.Ranges {
		from, to := f.Params.Range(of)
		key := f.Params.key(block.Number, of)
		seeds := newFrontier(from, to, f.Params.Words)
		for i, source := range block.Sources {
			if source >= from && source < to {
				seeds.of(source)[i/SourcesPerWord] |= 1 << (i % SourcesPerWord)
			}
		}
		if err := seeds.encode(func(element []byte) { emit(key, element) }); err != nil {
			return err
		}
		emitState(key, []byte{})
	}
	first, last := f.Params.sourcesOf(block.Number)
	for _, part := range f.Params.parts(first, last) {
		sources, err := Shard{Number: part.from, Of: f.Params.Sources, Sources: block.Sources[part.from-first : part.to-first]}.Encode()
		if err != nil {
			return err
		}
		emitSources(part.from, sources)
	}
	return nil
}

// roundFn is one round of the join, for one block of sources and one range of entities.
type roundFn struct {
	Params JoinParams
	Hop    int
}

// Setup keeps the worker within its budget.
func (f *roundFn) Setup() { limitMemory(f.Params.Memory) }

// ProcessElement notes what is reached for the first time, and sends on where that leads.
func (f *roundFn) ProcessElement(ctx context.Context, key int, arrivals, states func(*[]byte) bool, emit, emitState func(int, []byte)) error {
	defer takeSeat(f.Params.Threads)()
	block, of := f.Params.blockAndRange(key)
	fresh, err := f.Params.gather(of, arrivals)
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
	if err := f.Params.lead(ctx, block, of, fresh, emit); err != nil {
		return err
	}
	f.Params.count(ctx, block, of)
	return nil
}

// gather reads what a hop reached in a range.
func (p JoinParams) gather(of int, arrivals func(*[]byte) bool) (*frontier, error) {
	from, to := p.Range(of)
	reached := newFrontier(from, to, p.Words)
	var element []byte
	for arrivals(&element) {
		if err := reached.add(element); err != nil {
			return nil, err
		}
	}
	return reached, nil
}

// count notes that a block went through a round, once for all of its ranges.
func (p JoinParams) count(ctx context.Context, block, of int) {
	if of == 0 {
		from, to := p.sourcesOf(block)
		sourceRounds.Inc(ctx, int64(to-from))
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
