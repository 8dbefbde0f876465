package bundle

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

func init() {
	beam.RegisterDoFn(&cutFn{})
	beam.RegisterDoFn(&buildFn{})
}

// Params select queries and bound bundles.
type Params struct {
	// Graph is the URL of the graph's folder. Required.
	Graph string
	// Split names the split whose queries, graph and known answers are read. Required.
	Split string
	// Queries is the URL of a table of queries without labelled answers, to read instead of the
	// split's. Optional.
	Queries string
	// Training limits the known answers to those of the training facts; otherwise those of all
	// splits are known, as filtered ranks want it.
	Training bool
	// Limit is the maximal number of rows, spread evenly over the table; 0 takes all.
	Limit int64
	// Bundles is the minimal number of bundles, where there are as many queries; 1 if 0.
	Bundles int
	// Memory bounds a bundle in bytes; 64 MiB if 0.
	Memory int64
}

func (p Params) withDefaults() Params {
	if p.Bundles <= 0 {
		p.Bundles = 1
	}
	if p.Memory <= 0 {
		p.Memory = 64 << 20
	}
	return p
}

// Bundles makes the bundles of a split: PCollection<*Bundle>. Only the ranges of queries cross a
// barrier: workers read queries and known answers themselves, and build bundles where they are used.
func Bundles(s beam.Scope, p Params) beam.PCollection {
	s = s.Scope("bundle.Bundles")
	p = p.withDefaults()
	spans := beam.ParDo(s, &cutFn{Params: p}, beam.Impulse(s))
	return beam.ParDo(s, &buildFn{Params: p}, beam.Reshuffle(s, spans))
}

// span is the range [From, To) of the queries that make a bundle.
type span struct{ Number, From, To int }

type cutFn struct{ Params Params }

// ProcessElement cuts the split.
func (f *cutFn) ProcessElement(ctx context.Context, _ []byte, emit func(span)) error {
	queries, err := read(ctx, f.Params)
	if err != nil {
		return err
	}
	for number, r := range Cut(queries, f.Params.Bundles, f.Params.Memory) {
		emit(span{number, r[0], r[1]})
	}
	return nil
}

type buildFn struct{ Params Params }

// ProcessElement builds one bundle.
func (f *buildFn) ProcessElement(ctx context.Context, s span, emit func(*Bundle)) error {
	queries, err := read(ctx, f.Params)
	if err != nil {
		return err
	}
	emit(&Bundle{Number: s.Number, Queries: queries[s.From:s.To:s.To]})
	return nil
}
