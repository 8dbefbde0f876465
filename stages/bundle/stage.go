package bundle

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/stages/worker"
)

func init() {
	beam.RegisterDoFn(&shareFn{})
	beam.RegisterDoFn(&measureFn{})
	beam.RegisterDoFn(&cutFn{})
	beam.RegisterDoFn(&cutPlainFn{})
	beam.RegisterDoFn(&buildFn{})
	beam.RegisterDoFn(&saveFn{})
	beam.RegisterDoFn(savedFn)
	for _, t := range []any{sources{}, costs{}, piece{}} {
		beam.RegisterType(reflect.TypeOf(t))
	}
}

// SourcesCounter is the counter of the sources whose rows are in a bundle.
const SourcesCounter = "bundled_sources"

var bundledSources = worker.NewCounter("bundle", SourcesCounter)

// Params say which queries are bundled, and how.
type Params struct {
	// Graph is the URL of the graph's folder. Required.
	Graph string
	// Split is the split whose queries, graph and known answers are taken. Required.
	Split string
	// Queries is the URL of another table of queries to take instead of the split's; their
	// answers mean nothing then. Optional.
	Queries string
	// Training takes the known answers from the training facts alone, as learning must; without
	// it those of the other splits count as well, as in filtered ranks.
	Training bool
	// Limit is the most queries taken, drawn evenly over the table; 0 takes all.
	Limit int64
	// Distances is the URL of a folder of distance tables made before; "" searches.
	Distances string
	// Hops is how far is searched: the model's layers.
	Hops int
	// Balance cuts bundles of about equal messages, which takes another search per source;
	// without it they are of about equal numbers of questions. Delta is the window's, negative
	// where every layer sends along every edge.
	Balance bool
	Delta   int
	// Bundles is how many there are at least, where there are as many questions; 1 if 0.
	Bundles int
	// Memory bounds a bundle in bytes; see Cut. 64 MiB if 0.
	Memory int64
	// Threads is the number of threads that a worker searches with; one a core if 0.
	Threads int
}

func (p Params) withDefaults() Params {
	if p.Bundles <= 0 {
		p.Bundles = 1
	}
	if p.Memory <= 0 {
		p.Memory = 64 << 20
	}
	p.Threads = threads(p.Threads)
	return p
}

// Bundles makes the bundles of a split: a PCollection<[]byte>, each element one Arrow batch as
// Bundle.Encode makes it. It crosses a barrier before bundles are built, so that they are built
// where they are used, and none after.
//
//  1. Share the sources out (ranges of units).
//  2. Measure what a propagation from each costs.
//  3. Cut, in one place, which sees a number per source and no more.
//  4. Build each bundle: search, known answers, Arrow.
func Bundles(s beam.Scope, p Params) beam.PCollection {
	s = s.Scope("bundle.Bundles")
	p = p.withDefaults()
	impulse := beam.Impulse(s)
	var pieces beam.PCollection
	if p.Balance {
		shared := beam.Reshuffle(s, beam.ParDo(s, &shareFn{Params: p}, impulse))
		measured := beam.ParDo(s, &measureFn{Params: p}, shared)
		pieces = beam.ParDo(s, &cutFn{Params: p}, beam.GroupByKey(s, measured))
	} else {
		pieces = beam.ParDo(s, &cutPlainFn{Params: p}, impulse)
	}
	return beam.ParDo(s, &buildFn{Params: p}, beam.Reshuffle(s, pieces))
}

// Save writes bundles into a folder and returns their URLs: PCollection<[]byte> to
// PCollection<string>. It ends in a barrier: the local runner keeps a core busy waiting for a
// long step that does not.
func Save(s beam.Scope, folder string, bundles beam.PCollection) beam.PCollection {
	s = s.Scope("bundle.Save")
	saved := beam.GroupByKey(s, beam.ParDo(s, &saveFn{Folder: folder}, bundles))
	return beam.ParDo(s, savedFn, saved)
}

// sources is a range of units, whole sources.
type sources struct{ From, To int }

// costs are those of a range of units.
type costs struct {
	From  int
	Costs []int64
}

// piece is a bundle to be built of a range of units.
type piece struct{ Number, From, To int }

// sourcesPerShare is how many sources are measured at once.
const sourcesPerShare = 512

type shareFn struct{ Params Params }

func (f *shareFn) ProcessElement(ctx context.Context, _ []byte, emit func(sources)) error {
	in, err := open(ctx, f.Params)
	if err != nil {
		return err
	}
	from, count := 0, 0
	for i, u := range in.units {
		if i > 0 && in.units[i-1].Source != u.Source {
			if count++; count%sourcesPerShare == 0 {
				emit(sources{from, i})
				from = i
			}
		}
	}
	if from < len(in.units) {
		emit(sources{from, len(in.units)})
	}
	return nil
}

type measureFn struct{ Params Params }

func (f *measureFn) ProcessElement(ctx context.Context, share sources, emit func(int, costs)) error {
	in, err := open(ctx, f.Params)
	if err != nil {
		return err
	}
	builder, err := in.builder(ctx, f.Params)
	if err != nil {
		return err
	}
	defer builder.Close()
	units := slices.Clone(in.units[share.From:share.To])
	if f.Params.Delta >= 0 {
		if err := builder.Measure(ctx, units, f.Params.Hops, f.Params.Delta); err != nil {
			return err
		}
	}
	c := costs{From: share.From}
	for _, u := range units {
		c.Costs = append(c.Costs, u.Cost)
	}
	emit(0, c)
	return nil
}

type cutFn struct{ Params Params }

func (f *cutFn) ProcessElement(ctx context.Context, _ int, measured func(*costs) bool, emit func(piece)) error {
	in, err := open(ctx, f.Params)
	if err != nil {
		return err
	}
	units := slices.Clone(in.units)
	var c costs
	for measured(&c) {
		for i, cost := range c.Costs {
			units[c.From+i].Cost = cost
		}
		c.Costs = nil // a decoder may reuse what it finds
	}
	cut(in, units, f.Params, emit)
	return nil
}

type cutPlainFn struct{ Params Params }

func (f *cutPlainFn) ProcessElement(ctx context.Context, _ []byte, emit func(piece)) error {
	in, err := open(ctx, f.Params)
	if err != nil {
		return err
	}
	cut(in, in.units, f.Params, emit)
	return nil
}

func cut(in *inputs, units []Unit, p Params, emit func(piece)) {
	for number, r := range Cut(units, in.graph.Entities, p.Bundles, p.Memory) {
		emit(piece{number, r[0], r[1]})
	}
}

type buildFn struct{ Params Params }

func (f *buildFn) ProcessElement(ctx context.Context, p piece, emit func([]byte)) error {
	in, err := open(ctx, f.Params)
	if err != nil {
		return err
	}
	builder, err := in.builder(ctx, f.Params)
	if err != nil {
		return err
	}
	defer builder.Close()
	b, err := builder.Build(ctx, p.Number, in.units[p.From:p.To])
	if err != nil {
		return fmt.Errorf("bundle %d of the %s split: %w", p.Number, f.Params.Split, err)
	}
	bundledSources.Inc(ctx, int64(len(b.Groups)))
	data, err := b.Encode()
	if err != nil {
		return fmt.Errorf("bundle %d of the %s split: %w", p.Number, f.Params.Split, err)
	}
	emit(data)
	return nil
}

type saveFn struct{ Folder string }

func (f *saveFn) ProcessElement(ctx context.Context, data []byte, emit func(int, string)) error {
	b, err := Decode(data)
	if err != nil {
		return err
	}
	url := storage.Join(f.Folder, fmt.Sprintf("bundle-%05d.arrow", b.Number))
	if err := storage.WriteFile(ctx, url, data); err != nil {
		return err
	}
	emit(0, url)
	return nil
}

// savedFn lists the URLs behind the barrier.
func savedFn(_ int, urls func(*string) bool, emit func(string)) {
	var url string
	for urls(&url) {
		emit(url)
	}
}
