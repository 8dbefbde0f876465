package statistics

import (
	"context"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/tables"
	"tagnet/stages/worker"
)

// shardsCounted counts shards of edges as they are done.
var shardsCounted = worker.NewCounter("analysis", "shards_counted")

// EdgeShard is a file of edges, whole for the entities they lead to.
type EdgeShard struct {
	// Graph is training or inference, URL where the file lies.
	Graph, URL string
}

// Params says what is analysed and where the results go.
type Params struct {
	// Graph is the URL of the graph/ folder.
	Graph string
	// Splits are those whose queries are analysed.
	Splits []Counted
	// Layers and Deltas are the numbers of layers and the deltas, each with each; messages were
	// counted for all of them.
	Layers, Deltas []int
	// Folder is the URL of the folder that takes the results.
	Folder string
}

// Counted is a split and what was counted for it.
type Counted struct {
	Split string
	// Distances and Messages are the URLs of its folders.
	Distances, Messages string
}

// Analyze counts the degrees of every graph and writes them down beside what other stages
// summed. Input: EdgeShard, all those of the graphs. Output: the URL of analysis.json, the
// last file written. A worker holds one shard at a time, 12 bytes an edge.
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
