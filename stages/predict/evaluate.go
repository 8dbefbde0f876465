package predict

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer"
	"tagnet/model/answer/ranking"
	"tagnet/model/answer/workload"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/stages/encode"
	"tagnet/stages/evaluation"
	"tagnet/stages/worker"
)

func init() {
	beam.RegisterDoFn(&evaluateFn{})
	beam.RegisterDoFn(&writeFn{})
	beam.RegisterType(reflect.TypeFor[*mergeFn]())
	beam.RegisterCoder(reflect.TypeFor[*evaluation.Gatherer](), encodeGatherer, decodeGatherer)
}

func encodeGatherer(g *evaluation.Gatherer) ([]byte, error) { return json.Marshal(g) }

func decodeGatherer(data []byte) (*evaluation.Gatherer, error) {
	g := evaluation.NewGatherer()
	return g, json.Unmarshal(data, g)
}

// EvaluateParams are the parameters of Evaluate.
type EvaluateParams struct {
	Params
	// Folder is the URL of the output folder. Required.
	Folder string
	// Lock guards Folder; the zero Lock is never lost.
	Lock lock.Lock
}

// The names of the outputs: tables, which are folders of parts, and files.
const (
	RankingsTable    = "rankings"
	PredictionsTable = "predictions"
)

func (p EvaluateParams) url(name string) string { return storage.Join(p.Folder, name) }

// Evaluate scores the queries of a split and writes the results. Output: the URL of the last file written,
// metrics.json. The worker that scores a shard writes the shard's part of each table; a killed worker's shard is done
// again and gives the same bytes under the same names. Only an evaluation.Gatherer of each shard crosses a barrier.
func Evaluate(s beam.Scope, p EvaluateParams) beam.PCollection {
	s = s.Scope("predict.Evaluate")
	gathered := beam.ParDo(s, &evaluateFn{Params: p}, Shards(s, p.Queries))
	return beam.ParDo(s, &writeFn{Params: p}, beam.Combine(s, &mergeFn{}, gathered))
}

type evaluateFn struct{ Params EvaluateParams }

// ProcessElement scores a shard and writes its parts.
func (f *evaluateFn) ProcessElement(ctx context.Context, shard Shard, emit func(*evaluation.Gatherer)) error {
	return shard.Score(ctx, f.Params.Params, func(ctx context.Context, scored *answer.Scored) error {
		g, err := f.evaluate(ctx, shard, scored)
		if err != nil {
			return err
		}
		emit(g)
		return nil
	})
}

// evaluate writes a scored shard's parts and returns its metrics, for the sum of all shards.
func (f *evaluateFn) evaluate(ctx context.Context, shard Shard, scored *answer.Scored) (*evaluation.Gatherer, error) {
	loaded, err := encode.Open(ctx, f.Params.Queries.Graph, f.Params.Queries.Parts.URL != "", f.Params.Queries.Without...)
	if err != nil {
		return nil, err
	}
	names := evaluation.Names{Relations: loaded.Relations}
	g := evaluation.NewGatherer()
	g.Add(scored, names.Relations)
	if err := f.addBaselines(ctx, g, loaded, scored); err != nil {
		return nil, err
	}
	if names.Entity, err = loaded.View(f.Params.Queries.Split).Names(ctx, evaluation.EntitiesOf(scored)); err != nil {
		return nil, err
	}
	return g, f.write(f.Params.Lock.Guard(ctx), shard, scored, names)
}

// addBaselines adds how baselines, which the process makes once, rank the answers of a scored shard. Where queries are
// read with parts of the graph, the graph itself is not loaded, and nothing is added.
func (f *evaluateFn) addBaselines(ctx context.Context, g *evaluation.Gatherer, loaded *kg.KG, scored *answer.Scored) error {
	q := f.Params.Queries
	if q.Parts.URL != "" {
		return nil
	}
	view := loaded.View(q.Split)
	known, err := view.Answers(ctx)
	if err != nil {
		return err
	}
	baselines, err := worker.Load(worker.Key{Kind: "baselines"}, view.Graph, func() (*evaluation.Baselines, error) {
		return evaluation.NewBaselines(view.Graph), nil
	})
	if err != nil {
		return err
	}
	g.AddBaselines(scored, loaded.Relations, baselines, func(query graph.Query) answer.Request {
		return answer.Request{Query: query, Known: known.Of(query.Source, query.Relation), Sample: q.Sample()}
	})
	return nil
}

// write writes a shard's part of each table, in the order of the distinct queries in the split's table.
func (f *evaluateFn) write(ctx context.Context, shard Shard, scored *answer.Scored, names evaluation.Names) error {
	part := func(table string) string { return parquet.PartFile(f.Params.url(table), shard.Number, shard.Of) }
	if err := parquet.Write(ctx, part(RankingsTable), names.Rankings(scored)); err != nil {
		return err
	}
	return parquet.Write(ctx, part(PredictionsTable), names.Predictions(scored))
}

// mergeFn adds up the Gatherers of shards.
type mergeFn struct{}

func (*mergeFn) CreateAccumulator() *evaluation.Gatherer { return evaluation.NewGatherer() }

func (*mergeFn) AddInput(sum, one *evaluation.Gatherer) *evaluation.Gatherer {
	sum.Merge(one)
	return sum
}

func (*mergeFn) MergeAccumulators(a, b *evaluation.Gatherer) *evaluation.Gatherer {
	a.Merge(b)
	return a
}

// writeFn writes the file that is made of all shards.
type writeFn struct{ Params EvaluateParams }

// ProcessElement receives the Gatherer of all shards, when all parts are written.
func (f *writeFn) ProcessElement(ctx context.Context, g *evaluation.Gatherer, emit func(string)) error {
	ctx = f.Params.Lock.Guard(ctx)
	url := f.Params.url(metrics.File)
	if err := f.metrics(ctx, url, g); err != nil {
		return err
	}
	emit(url)
	return nil
}

// metrics writes the metrics of all shards as metrics.json.
func (f *writeFn) metrics(ctx context.Context, url string, g *evaluation.Gatherer) error {
	q := f.Params.Queries
	m := g.Metrics(q.Split, f.Params.Model.Checkpoint)
	m.Protocol, m.Negatives, m.Seed = q.Protocol, q.Protocol.Negatives(), q.Seed
	if q.Limit > 0 {
		var err error
		if m.Sample, err = f.sample(ctx); err != nil {
			return err
		}
	}
	return storage.WriteJSON(ctx, url, m)
}

// sample describes the queries as a sample of the split's, by the ranks that are written.
func (f *writeFn) sample(ctx context.Context) (*metrics.Sample, error) {
	q := f.Params.Queries
	loaded, err := encode.Open(ctx, q.Graph, q.Parts.URL != "", q.Without...)
	if err != nil {
		return nil, err
	}
	_, of, err := workload.Rows(ctx, loaded, q)
	if err != nil {
		return nil, err
	}
	var bootstrap ranking.Bootstrap
	var weights ranking.Weights
	err = parquet.EachPart(ctx, f.Params.url(RankingsTable), func(rows []parquet.Ranking) error {
		for _, row := range rows {
			weights.Draw(0, row.Query)
			bootstrap.Add(&weights, row.RankPessimistic)
		}
		return ctx.Err()
	})
	return bootstrap.Sample(of), err
}
