package predict

import (
	"cmp"
	"context"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/workspace/manifest"
	"tagnet/model/answer"
	"tagnet/model/answer/workload"
	"tagnet/stages/encode"
	"tagnet/stages/worker"
)

func init() {
	beam.RegisterDoFn(&cutFn{})
	beam.RegisterType(reflect.TypeFor[Shard]())
}

// Shard is the range [From, To) of the queries that workload.Read returns, one of Of: the element of a pipeline, and a
// part of each output table.
type Shard struct{ Number, Of, From, To int }

// Shards cuts the queries of a split into shards: PCollection<Shard>. The shards depend on the queries, Work, Best and
// Paths alone. Workers read queries and known answers themselves, once per process.
func Shards(s beam.Scope, p workload.Params) beam.PCollection {
	s = s.Scope("predict.Shards")
	return beam.Reshuffle(s, beam.ParDo(s, &cutFn{Params: p}, beam.Impulse(s)))
}

type cutFn struct{ Params workload.Params }

func (f *cutFn) ProcessElement(ctx context.Context, _ []byte, emit func(Shard)) error {
	queries, err := read(ctx, f.Params)
	if err != nil {
		return err
	}
	ranges := queries.Cut(f.Params)
	for number, r := range ranges {
		emit(Shard{number, len(ranges), r[0], r[1]})
	}
	return nil
}

// Requests calls each for the shard's queries, or, where these are read with their parts of the graph, for some after
// the other. They stay in the worker that loads them.
func (s Shard) Requests(ctx context.Context, p workload.Params, each func([]answer.Request) error) error {
	queries, err := read(ctx, p)
	if err != nil {
		return err
	}
	return workload.Each(queries, s.From, s.To, each)
}

// read reads the queries once per process: every shard of a split is cut from the same ones.
func read(ctx context.Context, p workload.Params) (workload.Queries, error) {
	loaded, err := encode.Open(ctx, p.Graph, p.Parts.URL != "", p.Without...)
	if err != nil {
		return nil, err
	}
	type version struct{ params, graph, file string } // the last two are checksums
	v := version{params: fmt.Sprint(p), graph: loaded.Manifest.Checksum}
	if file := cmp.Or(p.Queries, p.Ask.Lists); file != "" {
		hashed, err := manifest.HashFile(ctx, file)
		if err != nil {
			return nil, err
		}
		v.file = hashed.SHA256
	}
	return worker.Load(worker.Key{Kind: "queries", URL: p.Graph + " " + p.Split}, v, func() (workload.Queries, error) { return workload.Read(ctx, loaded, p) })
}
