package distances

import (
	"context"
	"fmt"
	"math/bits"
	"reflect"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/reach"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/kg"
)

// RangeRows is the distances of a span's sources to one range of entities. It is an element of
// pipelines.
type RangeRows struct {
	// Range is the range's number.
	Range int
	// Rows is a batch as tables.EncodeDistances makes it, whose sources are positions in the span.
	// Sources that reach nothing in the range have no row.
	Rows []byte
}

func init() {
	beam.RegisterDoFn(&transposeFn{})
	beam.RegisterDoFn(&assembleFn{})
	beam.RegisterDoFn(&tableFn{})
	beam.RegisterType(reflect.TypeOf((*RangeRows)(nil)).Elem())
}

// transposeFn is the last round of the join. It emits no frontier, and turns the state into rows by
// source.
type transposeFn struct{ Params JoinParams }

// ProcessElement transposes one block's state in one range.
func (f *transposeFn) ProcessElement(ctx context.Context, key int, frontiers, states func(*[]byte) bool, emit func(int, RangeRows)) error {
	defer acquire(f.Params.Threads)()
	block, r := f.Params.splitKey(key)
	fresh, err := f.Params.readFrontier(r, frontiers)
	if err != nil {
		return err
	}
	from, to := f.Params.Range(r)
	rows := make([][]byte, f.Params.blockSources()) // by source, nil if nothing is reached
	err = advance(fresh, uint8(f.Params.Hops), states, func(entity int32, word uint8, h *hops) error {
		column := int(entity - from)
		shift := 4 * (column & 1)
		for sources := h.reached(); sources != 0; sources &= sources - 1 {
			i := bits.TrailingZeros64(sources)
			row := &rows[int(word)*SourcesPerWord+i]
			if *row == nil {
				*row = unreachedRow(int(to - from))
			}
			(*row)[column/2] = (*row)[column/2]&^(15<<shift) | h.get(i)<<shift
		}
		return nil
	})
	if err != nil {
		return err
	}
	all := f.Params.block(block)
	for _, s := range f.Params.spans(all) {
		if err := emitRows(s, r, int(to-from), rows[s.from-all.from:s.to-all.from], emit); err != nil {
			return err
		}
	}
	f.Params.count(ctx, block, r)
	return nil
}

// unreachedRow returns a packed row of unreached entities.
func unreachedRow(entities int) []byte {
	return slices.Repeat([]byte{0xff}, tables.PackedLen(entities))
}

// emitRows emits the rows of a span that reach something.
func emitRows(s span, entityRange, entities int, rows [][]byte, emit func(int, RangeRows)) error {
	var reaching []tables.DistanceRow
	for i, row := range rows {
		if row != nil {
			reaching = append(reaching, tables.DistanceRow{Source: int32(i), Packed: row})
		}
	}
	if len(reaching) == 0 {
		return nil
	}
	encoded, err := tables.EncodeDistances(entities, reaching)
	if err != nil {
		return err
	}
	emit(s.from, RangeRows{Range: entityRange, Rows: encoded})
	return nil
}

// assembleFn assembles the rows of a span from all ranges and writes them to a spill file.
type assembleFn struct{ Params JoinParams }

// ProcessElement writes the span that begins at a position, and emits the number of its rows.
func (f *assembleFn) ProcessElement(ctx context.Context, from int, sources func(*Shard) bool, ranges func(*RangeRows) bool, emit func(int)) error {
	ctx = f.Params.Lock.Guard(ctx)
	defer acquire(f.Params.Threads)()
	url := f.Params.spillFile(from)
	var shard Shard
	if !sources(&shard) {
		return fmt.Errorf("the sources of %s are missing", url)
	}
	all := slices.Repeat([]uint8{reach.Unreached}, len(shard.Sources)*f.Params.Entities)
	row := func(i int) []uint8 { return all[i*f.Params.Entities : (i+1)*f.Params.Entities] }
	var r RangeRows
	for ranges(&r) {
		first, last := f.Params.Range(r.Range)
		rows, err := tables.DecodeDistances(r.Rows, int(last-first))
		if err != nil {
			return err
		}
		for _, found := range rows {
			if int(found.Source) >= len(shard.Sources) {
				return fmt.Errorf("%s: range %d has row %d of %d", url, r.Range, found.Source, len(shard.Sources))
			}
			tables.Unpack(found.Packed, row(int(found.Source))[first:last])
		}
	}
	w, err := tables.CreateDistances(ctx, url, f.Params.Entities, f.Params.Hops)
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

// Tables makes the tables and distribution.json from the spill files that Join wrote, when all
// blocks are searched. Input: Shard. Output: the URL of distribution.json, the last file written. A
// worker reads the spill files row by row.
func Tables(s beam.Scope, shards beam.PCollection, p JoinParams) beam.PCollection {
	s = s.Scope("distances.Tables")
	return writeDistribution(s, beam.ParDo(s, &tableFn{Params: p}, beam.Reshuffle(s, shards)), p.SearchParams)
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
func (f *tableFn) ProcessElement(ctx context.Context, shard Shard, emit func(WrittenTable)) error {
	ctx = f.Params.Lock.Guard(ctx)
	defer acquire(f.Params.Threads)()
	written := WrittenTable{File: shard.File(), ByDistance: make([]int64, f.Params.Hops+2)}
	w, err := tables.CreateDistances(ctx, storage.Join(f.Params.Folder, shard.File()), f.Params.Entities, f.Params.Hops)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, s := range f.Params.tableSpans(shard.Number) {
		if err := f.copy(ctx, s, w, &written); err != nil {
			return err
		}
	}
	if written.Rows != int64(len(shard.Sources)) {
		return fmt.Errorf("%s: the rounds of the join wrote %d sources of %s, want %d", f.Params.Folder, written.Rows, shard.File(), len(shard.Sources))
	}
	if err := w.Commit(); err != nil {
		return err
	}
	emit(written)
	return nil
}

// copy appends the rows of a span to a table, and counts the distances of answers.
func (f *tableFn) copy(ctx context.Context, s span, w *tables.DistanceWriter, written *WrittenTable) error {
	return tables.EachDistances(ctx, f.Params.spillFile(s.from), func(row tables.DistanceRow) error {
		for _, q := range QueriesOf(f.queries, row.Source) {
			hop := int(tables.PackedAt(row.Packed, q.Answer))
			written.ByDistance[min(hop, f.Params.Hops+1)]++
		}
		written.Rows++
		return w.WriteRow(row)
	})
}
