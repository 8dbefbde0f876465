package evaluate

import (
	"cmp"
	"context"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/parquet"
	"tagnet/formats/storage"
	"tagnet/stages/graph"
	"tagnet/stages/score"
)

func init() {
	beam.RegisterDoFn(&writeFn{})
}

// Params say what is written where.
type Params struct {
	// Graph is the URL of the graph's folder, Split the split that was asked. Required.
	Graph, Split string
	// Folder is the URL of the folder that takes the files. Required.
	Folder string
	// Checkpoint names, in metrics.json, what scored.
	Checkpoint string
	// Questions says that a user's questions were asked, which have no answers: there are no
	// ranks then, and answers.tsv is written instead of metrics.
	Questions bool
}

// Write writes what is known of scored bundles: PCollection<KV<int, *score.Scored>> with
// one key, to PCollection<string>, the URLs of the files written.
//
// One worker holds all of them: 60 bytes a query and 20 a best candidate, and as much again,
// with the names, for each file in turn.
func Write(s beam.Scope, p Params, scored beam.PCollection) beam.PCollection {
	s = s.Scope("evaluate.Write")
	return beam.ParDo(s, &writeFn{Params: p}, beam.GroupByKey(s, scored))
}

type writeFn struct{ Params Params }

// ProcessElement gets all bundles.
func (f *writeFn) ProcessElement(ctx context.Context, _ int, scored func(**score.Scored) bool, emit func(string)) error {
	loaded, err := graph.Load(f.Params.Graph)
	if err != nil {
		return err
	}
	var all []*score.Scored
	var one *score.Scored
	for scored(&one) {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b *score.Scored) int { return cmp.Compare(a.Number, b.Number) })
	names := Names{Entities: loaded.Of(f.Params.Split).Entities, Relations: loaded.Relations}
	write := f.metrics
	if f.Params.Questions {
		write = f.answers
	}
	urls, err := write(ctx, names, all)
	if err != nil {
		return err
	}
	for _, url := range urls {
		emit(url)
	}
	return nil
}

// The names of the files.
const (
	RankingsFile    = "rankings.parquet"
	PredictionsFile = "predictions.parquet"
	MetricsFile     = "metrics.json"
	AnswersFile     = "answers.tsv"
)

func (f *writeFn) url(file string) string { return storage.Join(f.Params.Folder, file) }

// metrics writes the files of a split.
func (f *writeFn) metrics(ctx context.Context, names Names, all []*score.Scored) ([]string, error) {
	gatherer := NewGatherer(names.Relations)
	for _, s := range all {
		gatherer.Add(s)
	}
	text, err := gatherer.Metrics(f.Params.Split, f.Params.Checkpoint).Encode()
	if err != nil {
		return nil, err
	}
	if err := parquet.Write(ctx, f.url(RankingsFile), names.Rankings(all)); err != nil {
		return nil, err
	}
	if err := parquet.Write(ctx, f.url(PredictionsFile), names.Predictions(all)); err != nil {
		return nil, err
	}
	if err := storage.WriteFile(ctx, f.url(MetricsFile), text); err != nil {
		return nil, err
	}
	return []string{f.url(RankingsFile), f.url(PredictionsFile), f.url(MetricsFile)}, nil
}

// answers writes the files of a user's questions, in the order in which they were asked.
func (f *writeFn) answers(ctx context.Context, names Names, all []*score.Scored) ([]string, error) {
	predictions := names.Predictions(inOrder(all))
	if err := parquet.Write(ctx, f.url(PredictionsFile), predictions); err != nil {
		return nil, err
	}
	if err := storage.WriteFile(ctx, f.url(AnswersFile), Answers(predictions)); err != nil {
		return nil, err
	}
	return []string{f.url(AnswersFile), f.url(PredictionsFile)}, nil
}
