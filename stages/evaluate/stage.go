package evaluate

import (
	"cmp"
	"context"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/lock"
	"tagnet/formats/parquet"
	"tagnet/formats/storage"
	"tagnet/stages/graph"
	"tagnet/stages/score"
)

func init() {
	beam.RegisterDoFn(&writeFn{})
}

// Params are the parameters of Write.
type Params struct {
	// Graph is the URL of the graph/ folder, Split the split of the queries. Required.
	Graph, Split string
	// Folder is the URL of the output folder. Required.
	Folder string
	// Lock is that of Folder; the zero Lock is never lost.
	Lock lock.Lock
	// Checkpoint is the name of the checkpoint, for metrics.json.
	Checkpoint string
	// UserQueries selects queries of a user, whose answers are not known: Write writes answers.tsv
	// instead of ranks and metrics.
	UserQueries bool
}

// Write writes the results of scored bundles. Input: KV<int, *score.Scored> with one key.
// Output: the URLs of the files. One worker holds all of them: 60 bytes for each query and 20 for each
// of its best candidates, and as much again, with the names, for each file in turn.
func Write(s beam.Scope, p Params, scored beam.PCollection) beam.PCollection {
	s = s.Scope("evaluate.Write")
	return beam.ParDo(s, &writeFn{Params: p}, beam.GroupByKey(s, scored))
}

type writeFn struct{ Params Params }

// ProcessElement receives all bundles.
func (f *writeFn) ProcessElement(ctx context.Context, _ int, scored func(**score.Scored) bool, emit func(string)) error {
	ctx = f.Params.Lock.Guard(ctx)
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
	if f.Params.UserQueries {
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
	if err := parquet.Write(ctx, f.url(RankingsFile), names.Rankings(all)); err != nil {
		return nil, err
	}
	if err := parquet.Write(ctx, f.url(PredictionsFile), names.Predictions(all)); err != nil {
		return nil, err
	}
	if err := storage.WriteJSON(ctx, f.url(MetricsFile), gatherer.Metrics(f.Params.Split, f.Params.Checkpoint)); err != nil {
		return nil, err
	}
	return []string{f.url(RankingsFile), f.url(PredictionsFile), f.url(MetricsFile)}, nil
}

// answers writes the files of a user's queries, in the order of the user's file.
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
