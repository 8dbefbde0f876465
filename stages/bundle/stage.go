package bundle

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/metrics"
	"tagnet/model/ranker"
)

func init() {
	beam.RegisterDoFn(&cutFn{})
	beam.RegisterType(reflect.TypeFor[Shard]())
}

// Params select queries and decide the size of shards.
type Params struct {
	// Graph is the URL of the graph's folder. Required.
	Graph string
	// Split names the split whose queries, graph and known answers are read. Required.
	Split string
	// Protocol says which queries of the graph are read, and among which entities answers are ranked, Seed the random ones
	// of GraIL. Every protocol but Test needs the split test.
	Protocol metrics.Protocol
	Seed     int64
	// Queries is the URL of a table of queries without labelled answers, to read instead of the
	// split's. Optional.
	Queries string
	// Ask are the queries instead, if it has relations.
	Ask Ask
	// Training limits the known answers to those of the training facts; otherwise those of all
	// splits are known, as filtered ranks want it.
	Training bool
	// Limit is the maximal number of rows, spread evenly over the table; 0 takes all.
	Limit int64
	// Work is the estimated multiply-adds of a query, Best the number of candidates that are kept for it; see Cut.
	Work float64
	Best int
}

// Shard is the range [From, To) of the queries that Read returns, one of Of. It is an element of pipelines.
type Shard struct{ Number, Of, From, To int }

// Shards cuts the queries of a split into shards: PCollection<Shard>. The shards depend on the queries, Work and Best
// alone. Workers read queries and known answers themselves, once per process.
func Shards(s beam.Scope, p Params) beam.PCollection {
	s = s.Scope("bundle.Shards")
	return beam.Reshuffle(s, beam.ParDo(s, &cutFn{Params: p}, beam.Impulse(s)))
}

type cutFn struct{ Params Params }

// ProcessElement cuts the split.
func (f *cutFn) ProcessElement(ctx context.Context, _ []byte, emit func(Shard)) error {
	ranges, err := f.Params.cut(ctx)
	if err != nil {
		return err
	}
	for number, r := range ranges {
		emit(Shard{number, len(ranges), r[0], r[1]})
	}
	return nil
}

// cut returns the ranges of the queries.
func (p Params) cut(ctx context.Context) ([][2]int, error) {
	if len(p.Ask.Relations) > 0 {
		asked, err := readAsked(ctx, p)
		if err != nil {
			return nil, err
		}
		return asked.cut(p.Work, p.Best, p.Ask.Beside), nil
	}
	queries, err := read(ctx, p)
	if err != nil {
		return nil, err
	}
	return Cut(queries, p.Work, p.Best), nil
}

// Sample returns about n of the queries, spread evenly over all.
func (p Params) Sample(ctx context.Context, n int) ([]ranker.Query, error) {
	if len(p.Ask.Relations) > 0 {
		asked, err := readAsked(ctx, p)
		if err != nil {
			return nil, err
		}
		total := asked.sourceCount() * len(asked.relations)
		var queries []ranker.Query
		for i := range min(n, total) {
			at := i * total / min(n, total)
			queries = append(queries, asked.queries(at, at+1)...)
		}
		return queries, nil
	}
	p.Limit = int64(n)
	return Read(ctx, p)
}

// Load returns the bundle of a shard's queries.
func (p Params) Load(ctx context.Context, s Shard) (*ranker.Bundle, error) {
	if len(p.Ask.Relations) > 0 {
		asked, err := readAsked(ctx, p)
		if err != nil {
			return nil, err
		}
		return &ranker.Bundle{Number: s.Number, Queries: asked.queries(s.From, s.To)}, nil
	}
	queries, err := read(ctx, p)
	if err != nil {
		return nil, err
	}
	queries = slices.Clone(queries[s.From:s.To])
	slices.SortFunc(queries, func(a, b ranker.Query) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Relation, b.Relation))
	})
	for i := range queries {
		queries[i].Sample = ranker.Sample{Negatives: p.Protocol.Negatives(), Seed: uint64(p.Seed)}
	}
	return &ranker.Bundle{Number: s.Number, Queries: queries}, nil
}
