package distances

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/kg"
)

// Piece is the distances of a part's sources to one range of entities.
type Piece struct {
	// Range numbers the range. Rows is a batch as tables.EncodeDistances makes it, whose sources
	// are places within the part; those that reach nothing in the range are left out.
	Range int
	Rows  []byte
}

// lastRoundFn is the last round of the join: nothing is sent on, and the state is transposed.
type lastRoundFn struct{ Params JoinParams }

// ProcessElement makes rows by source of one block's state in one range.
func (f *lastRoundFn) ProcessElement(ctx context.Context, key int, arrivals, states func(*[]byte) bool, emit func(int, Piece)) error {
	defer takeSeat(f.Params.Threads)()
	block, of := f.Params.blockAndRange(key)
	fresh, err := f.Params.gather(of, arrivals)
	if err != nil {
		return err
	}
	from, to := f.Params.Range(of)
	rows := make([][]byte, f.Params.block()) // by source, nil where nothing is reached
	err = advance(fresh, uint8(f.Params.Hops), states, func(entity int32, word uint8, h *hops) error {
		at := int(entity - from)
		for sources := h.reached(); sources != 0; sources &= sources - 1 {
			i := bits.TrailingZeros64(sources)
			row := &rows[int(word)*SourcesPerWord+i]
			if *row == nil {
				*row = unreached(int(to - from))
			}
			hop := h[i/2] >> (4 * (i & 1)) & 15
			shift := 4 * (at & 1)
			(*row)[at/2] = (*row)[at/2]&^(15<<shift) | hop<<shift
		}
		return nil
	})
	if err != nil {
		return err
	}
	first, last := f.Params.sourcesOf(block)
	for _, part := range f.Params.parts(first, last) {
		if err := emitPiece(part, of, int(to-from), rows[part.from-first:part.to-first], emit); err != nil {
			return err
		}
	}
	f.Params.count(ctx, block, of)
	return nil
}

// unreached is a packed row of which nothing is reached.
func unreached(entities int) []byte { return slices.Repeat([]byte{0xff}, tables.PackedLen(entities)) }

// emitPiece sends the rows of a part that reach something.
func emitPiece(to part, of, entities int, rows [][]byte, emit func(int, Piece)) error {
	var some []tables.DistanceRow
	for i, row := range rows {
		if row != nil {
			some = append(some, tables.DistanceRow{Source: int32(i), Packed: row})
		}
	}
	if len(some) == 0 {
		return nil
	}
	encoded, err := tables.EncodeDistances(entities, some)
	if err != nil {
		return err
	}
	emit(to.from, Piece{Range: of, Rows: encoded})
	return nil
}

// partFn puts the ranges of a part together and writes it.
type partFn struct{ Params JoinParams }

// ProcessElement writes one part, a table of distances from some of the sources of a table.
func (f *partFn) ProcessElement(ctx context.Context, from int, sources func(*[]byte) bool, pieces func(*Piece) bool, emit func(int)) error {
	defer takeSeat(f.Params.Threads)()
	var element []byte
	var shard Shard
	if !sources(&element) {
		return fmt.Errorf("the sources of %s are missing", f.Params.partURL(from))
	}
	if err := shard.Decode(element); err != nil {
		return err
	}
	whole := slices.Repeat([]uint8{tables.Unreached}, len(shard.Sources)*f.Params.Entities)
	row := func(i int) []uint8 { return whole[i*f.Params.Entities : (i+1)*f.Params.Entities] }
	var piece Piece
	for pieces(&piece) {
		first, last := f.Params.Range(piece.Range)
		rows, err := tables.DecodeDistances(piece.Rows, int(last-first))
		if err != nil {
			return err
		}
		for _, found := range rows {
			if int(found.Source) >= len(shard.Sources) {
				return fmt.Errorf("%s: a piece has row %d of %d", f.Params.partURL(from), found.Source, len(shard.Sources))
			}
			tables.Unpack(found.Packed, row(int(found.Source))[first:last])
		}
	}
	w, err := tables.CreateDistances(ctx, f.Params.partURL(from), f.Params.Entities, f.Params.Hops)
	if err != nil {
		return err
	}
	defer w.Abort()
	for i, source := range shard.Sources {
		if err := w.Write(source, row(i)); err != nil {
			return err
		}
	}
	if err := w.Commit(); err != nil {
		return err
	}
	emit(len(shard.Sources))
	return nil
}

// Tables makes tables and distribution.json of the parts that Join wrote of all sources. Input:
// shards as Shard.Encode makes them. Output: the URL of distribution.json, the last file
// written. A worker reads the parts row by row.
func Tables(s beam.Scope, shards beam.PCollection, p JoinParams) beam.PCollection {
	s = s.Scope("distance.Tables")
	found := beam.ParDo(s, &tableFn{Params: p}, beam.Reshuffle(s, shards))
	return beam.ParDo(s, &distributionFn{Params: p.SearchParams}, beam.GroupByKey(s, beam.AddFixedKey(s, found)))
}

func init() {
	beam.RegisterDoFn(&tableFn{})
}

type tableFn struct {
	Params JoinParams

	queries []tables.Query // sorted by source
}

// Setup reads the split's queries.
func (f *tableFn) Setup(ctx context.Context) (err error) {
	f.queries, err = tables.ReadQueryTable(ctx, storage.Join(f.Params.Graph, kg.QueriesFile(f.Params.Split)))
	return err
}

// ProcessElement writes one table.
func (f *tableFn) ProcessElement(ctx context.Context, element []byte, emit func(Found)) error {
	defer takeSeat(f.Params.Threads)()
	var shard Shard
	if err := shard.Decode(element); err != nil {
		return err
	}
	found := Found{File: shard.File(), ByDistance: make([]int64, f.Params.Hops+2)}
	w, err := tables.CreateDistances(ctx, storage.Join(f.Params.Folder, shard.File()), f.Params.Entities, f.Params.Hops)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, part := range f.Params.partsOf(shard.Number) {
		if err := f.copy(ctx, part, w, &found); err != nil {
			return err
		}
	}
	if found.Rows != int64(len(shard.Sources)) {
		return fmt.Errorf("%s: the parts of %s have %d sources instead of %d", f.Params.Folder, shard.File(), found.Rows, len(shard.Sources))
	}
	if err := w.Commit(); err != nil {
		return err
	}
	emit(found)
	return nil
}

// copy appends the rows of a part to a table, and counts how far answers are.
func (f *tableFn) copy(ctx context.Context, from part, w *tables.DistanceWriter, found *Found) error {
	r, err := tables.OpenDistances(ctx, f.Params.partURL(from.from))
	if err != nil {
		return err
	}
	defer r.Close()
	return r.Each(func(row tables.DistanceRow) error {
		for _, q := range QueriesOf(f.queries, row.Source) {
			hop := int(row.Packed[q.Answer/2] >> (4 * (q.Answer & 1)) & 15)
			found.ByDistance[min(hop, f.Params.Hops+1)]++
		}
		found.Rows++
		return w.WriteRow(row)
	})
}
