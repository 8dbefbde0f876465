package study

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/hop"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/tables"
	"tagnet/model/budget"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/study"
	"tagnet/stages/worker"
)

// sourcesSearched counts sources as they are done.
var sourcesSearched = worker.NewCounter("distance", "sources_searched")

// SearchParams are the parameters of Search. The queries of the split count in the distribution.
type SearchParams struct {
	Params
	// Hops is the largest distance that is searched, at most hop.Most.
	Hops int
}

// WrittenTable describes a table that was written, and counts the queries of its sources.
type WrittenTable struct {
	File string
	// ByDistance counts the split's queries by the distance from their source to their answer,
	// 0 to Hops, and last the queries whose answer is unreached.
	ByDistance []int64
}

// Search searches from every source and writes the tables and the distribution. Input: Shard.
// Output: the URL of distribution.json, the last file written. budget.Search estimates the memory
// of a worker.
func Search(s beam.Scope, shards beam.PCollection, p SearchParams) beam.PCollection {
	s = s.Scope("study.Search")
	written := beam.ParDo(s, &searchFn{Params: p}, beam.Reshuffle(s, shards))
	return beam.ParDo(s, &distributionFn{Params: p}, beam.GroupByKey(s, beam.AddFixedKey(s, written)))
}

func init() {
	beam.RegisterDoFn(&searchFn{})
	beam.RegisterDoFn(&distributionFn{})
	beam.RegisterType(reflect.TypeOf((*WrittenTable)(nil)).Elem())
}

// maxNeighbors is the most edges of a graph of which a search keeps a copy without repeated neighbors (256 MiB).
const maxNeighbors = 64 << 20

type searchFn struct {
	Params SearchParams

	view      *kg.View
	neighbors *study.Neighbors // nil where they take too much memory
	queries   []graph.Query    // sorted by source
}

// Setup loads the graph, and makes its adjacency without relations, once per process.
func (f *searchFn) Setup(ctx context.Context) error {
	budget.Limit(f.Params.Memory)
	var err error
	if _, f.view, f.queries, err = f.Params.load(ctx); err == nil && f.view.Graph.Edges() <= maxNeighbors {
		f.neighbors, err = worker.Load(worker.Key{Kind: "neighbors", URL: f.Params.Graph}, f.view, func() (*study.Neighbors, error) {
			return study.NewNeighbors(f.view.Graph), nil
		})
	}
	return err
}

// ProcessElement searches from the sources of a shard and writes their table.
func (f *searchFn) ProcessElement(ctx context.Context, shard Shard, emit func(WrittenTable)) error {
	ctx = f.Params.Lock.Guard(ctx)
	written := WrittenTable{File: shard.File(), ByDistance: make([]int64, f.Params.Hops+2)}
	w, err := tables.CreateDistances(ctx, storage.Join(f.Params.Folder, shard.File()), f.view.Graph.Entities, f.Params.Hops)
	if err != nil {
		return err
	}
	defer w.Abort()
	params := f.Params.sweep(f.view.Graph, shard.Sources, f.Params.Hops)
	params.Gather, params.Neighbors = study.Gather{Distances: true}, f.neighbors
	err = study.Sweep(ctx, params, f.row, func(source int32, row searchedRow) error {
		for _, distance := range row.answers {
			written.ByDistance[distance]++
		}
		sourcesSearched.Inc(ctx, 1)
		return w.WriteRow(tables.DistanceRow{Source: source, Packed: row.packed})
	})
	if err != nil {
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	emit(written)
	return nil
}

// searchedRow is a source's row of the table, packed, and the distances to its queries' answers.
type searchedRow struct{ packed, answers []uint8 }

func (f *searchFn) row(r *study.Result) (searchedRow, error) {
	row := searchedRow{packed: bytes.Clone(r.Packed)}
	for _, q := range kg.OfSource(f.queries, r.Source) {
		row.answers = append(row.answers, min(tables.PackedAt(r.Packed, q.Answer), uint8(f.Params.Hops+1)))
	}
	return row, nil
}

// distributionFn adds up the counts of all tables and writes the distribution.
type distributionFn struct{ Params SearchParams }

func (f *distributionFn) ProcessElement(ctx context.Context, _ int, written func(*WrittenTable) bool, emit func(string)) error {
	ctx = f.Params.Lock.Guard(ctx)
	d := counts.Distribution{Split: f.Params.Split, ByDistance: map[string]int64{}}
	var table WrittenTable
	sum := make([]int64, f.Params.Hops+2)
	for written(&table) {
		if len(table.ByDistance) != len(sum) {
			return fmt.Errorf("%s counts %d distances: want %d", table.File, len(table.ByDistance), len(sum))
		}
		for i, n := range table.ByDistance {
			sum[i] += n
		}
	}
	for i, n := range sum {
		d.Queries += n
		switch {
		case i == f.Params.Hops+1:
			d.ByDistance[hop.Key] = n
		case i > 0 || n > 0:
			d.ByDistance[strconv.Itoa(i)] = n
		}
	}
	url := storage.Join(f.Params.Folder, counts.DistributionFile)
	if err := storage.WriteJSON(ctx, url, d); err != nil {
		return err
	}
	emit(url)
	return nil
}
