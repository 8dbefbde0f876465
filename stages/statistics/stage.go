package statistics

import (
	"context"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/analysis"
	"tagnet/formats/lock"
	"tagnet/formats/parquet"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/stages/worker"
)

// shardsCounted counts shards of edges as they are done.
var shardsCounted = worker.NewCounter("analysis", "shards_counted")

// EdgeShard is a file of edges. It has all edges that enter an entity, or none of them.
type EdgeShard struct {
	// Graph is Training or analysis.Inference, URL the location of the file.
	Graph, URL string
}

// Params are the parameters of Analyze.
type Params struct {
	analysis.Inputs
	// Folder is the URL of the output folder.
	Folder string
	// Lock is that of Folder; the zero Lock is never lost.
	Lock lock.Lock
}

// Analyze counts the degrees of every graph and writes them with the counts of other stages. Input:
// EdgeShard, all shards of the graphs. Output: the URL of analysis.json, the last file written. A
// worker holds a shard at a time, 12 bytes for each edge.
func Analyze(s beam.Scope, shards beam.PCollection, p Params) beam.PCollection {
	s = s.Scope("statistics.Analyze")
	degrees := beam.ParDo(s, &degreesFn{}, beam.Reshuffle(s, shards))
	return beam.ParDo(s, &writeFn{Params: p}, beam.GroupByKey(s, beam.AddFixedKey(s, degrees)))
}

func init() {
	beam.RegisterDoFn(&degreesFn{})
	beam.RegisterDoFn(&writeFn{})
	beam.RegisterType(reflect.TypeOf((*EdgeShard)(nil)).Elem())
	beam.RegisterType(reflect.TypeOf((*analysis.Degrees)(nil)).Elem())
}

// degreesFn counts the degrees of a shard.
type degreesFn struct{}

// ProcessElement reads the shard.
func (f *degreesFn) ProcessElement(ctx context.Context, shard EdgeShard, emit func(analysis.Degrees)) error {
	edges, err := tables.ReadEdges(ctx, shard.URL)
	if err != nil {
		return err
	}
	d := analysis.Degrees{Graph: shard.Graph}
	d.Count(edges)
	shardsCounted.Inc(ctx, 1)
	emit(d)
	return nil
}

// writeFn writes both files.
type writeFn struct{ Params Params }

// ProcessElement receives the degrees of all shards.
func (f *writeFn) ProcessElement(ctx context.Context, _ int, shards func(*analysis.Degrees) bool, emit func(string)) error {
	ctx = f.Params.Lock.Guard(ctx)
	all := map[string]*analysis.Degrees{analysis.Training: {Graph: analysis.Training}, analysis.Inference: {Graph: analysis.Inference}}
	var d analysis.Degrees
	for shards(&d) {
		sum := all[d.Graph]
		if sum == nil {
			return fmt.Errorf("degrees of graph %q: want %s or %s", d.Graph, analysis.Training, analysis.Inference)
		}
		sum.Plus(d)
	}
	a, err := f.Params.Gather(ctx, *all[analysis.Training], *all[analysis.Inference])
	if err != nil {
		return err
	}
	if err := parquet.Write(ctx, storage.Join(f.Params.Folder, analysis.SharesFile), a.Rows()); err != nil {
		return err
	}
	url := storage.Join(f.Params.Folder, analysis.File)
	if err := storage.WriteJSON(ctx, url, a); err != nil {
		return err
	}
	emit(url)
	return nil
}
