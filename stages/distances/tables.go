package distances

import (
	"context"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/joinsearch"
	"tagnet/model/kg"
	"tagnet/stages/worker"
)

func init() {
	beam.RegisterDoFn(&transposeFn{})
	beam.RegisterDoFn(&assembleFn{})
	beam.RegisterDoFn(&tableFn{})
	beam.RegisterType(reflect.TypeOf((*joinsearch.RangeRows)(nil)).Elem())
}

// transposeFn is the last round of the join. It emits no frontier, and turns the state into rows by
// source.
type transposeFn struct{ Params JoinParams }

// ProcessElement transposes one block's state in one range.
func (f *transposeFn) ProcessElement(ctx context.Context, key int, frontiers, states func(*[]byte) bool, emit func(int, joinsearch.RangeRows)) error {
	ctx, leave, err := worker.Enter(ctx, f.Params.Threads)
	if err != nil {
		return err
	}
	defer leave()
	if err := f.Params.Layout.Transpose(key, f.Params.Hops, frontiers, states, emit); err != nil {
		return err
	}
	f.Params.count(ctx, key)
	return nil
}

// assembleFn assembles the rows of a span from all ranges and writes them to a spill file.
type assembleFn struct{ Params JoinParams }

// ProcessElement writes the span that begins at a position, and emits the number of its rows.
func (f *assembleFn) ProcessElement(ctx context.Context, from int, sources func(*Shard) bool, ranges func(*joinsearch.RangeRows) bool, emit func(int)) error {
	ctx, leave, err := worker.Enter(f.Params.Lock.Guard(ctx), f.Params.Threads)
	if err != nil {
		return err
	}
	defer leave()
	url := f.Params.spillFile(from)
	var shard Shard
	if !sources(&shard) {
		return fmt.Errorf("the sources of %s are missing", url)
	}
	all, err := f.Params.Layout.Assemble(len(shard.Sources), ranges)
	if err != nil {
		return fmt.Errorf("making %s: %w", url, err)
	}
	w, err := tables.CreateDistances(ctx, url, f.Params.Layout.Entities, f.Params.Hops)
	if err != nil {
		return err
	}
	defer w.Abort()
	for i, source := range shard.Sources {
		if err := w.Write(source, all[i*f.Params.Layout.Entities:(i+1)*f.Params.Layout.Entities]); err != nil {
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
	ctx, leave, err := worker.Enter(f.Params.Lock.Guard(ctx), f.Params.Threads)
	if err != nil {
		return err
	}
	defer leave()
	written := WrittenTable{File: shard.File(), ByDistance: make([]int64, f.Params.Hops+2)}
	w, err := tables.CreateDistances(ctx, storage.Join(f.Params.Folder, shard.File()), f.Params.Layout.Entities, f.Params.Hops)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, s := range f.Params.Layout.TableSpans(shard.Number) {
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
func (f *tableFn) copy(ctx context.Context, s joinsearch.Span, w *tables.DistanceWriter, written *WrittenTable) error {
	return tables.EachDistances(ctx, f.Params.spillFile(s.From), func(row tables.DistanceRow) error {
		for _, q := range tables.QueriesOf(f.queries, row.Source) {
			hop := int(tables.PackedAt(row.Packed, q.Answer))
			written.ByDistance[min(hop, f.Params.Hops+1)]++
		}
		written.Rows++
		return w.WriteRow(row)
	})
}
