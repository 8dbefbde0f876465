package statistics

import (
	"context"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/lock"
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
	// Graph is the URL of the graph/ folder.
	Graph string
	// Splits are the splits whose queries are analyzed.
	Splits []Counted
	// Layers and Deltas are the numbers of layers and the deltas whose counts are included, every
	// number of layers with every delta.
	Layers, Deltas []int
	// Folder is the URL of the output folder.
	Folder string
	// Lock is that of Folder; the zero Lock is never lost.
	Lock lock.Lock
}

// Counted is a split and the folders with its counts.
type Counted struct {
	Split string
	// Distances and Messages are the URLs of distances/SPLIT and messages/SPLIT.
	Distances, Messages string
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
	beam.RegisterType(reflect.TypeOf((*Degrees)(nil)).Elem())
}

// degreesFn counts the degrees of a shard.
type degreesFn struct{}

// ProcessElement reads the shard.
func (f *degreesFn) ProcessElement(ctx context.Context, shard EdgeShard, emit func(Degrees)) error {
	edges, err := tables.ReadEdges(ctx, shard.URL)
	if err != nil {
		return err
	}
	d := Degrees{Graph: shard.Graph}
	d.count(edges)
	shardsCounted.Inc(ctx, 1)
	emit(d)
	return nil
}
