package evaluate

import (
	"context"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/storage/check"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer/evaluation"
	"tagnet/stages/preprocess"
	"tagnet/stages/score"
)

func init() {
	beam.RegisterDoFn(&askedFn{})
	beam.RegisterDoFn(&answersFn{})
	beam.RegisterType(reflect.TypeFor[Answered]())
	beam.RegisterFunction(addAnswered)
}

// The names of the outputs of OwnQueries, beside PredictionsTable.
const (
	AnswersFile  = "answers.tsv"
	AnsweredFile = "answered.json"
)

// Answered says what it took to answer queries, and what is left out. It is an element of pipelines, and the content of AnsweredFile.
type Answered struct {
	Shards int `json:"-"`
	// Queries is their number, Backward that of the queries that asked their candidates in the other direction, Most what that can be at most.
	Queries  int64 `json:"queries"`
	Backward int64 `json:"backward"`
	Most     int64 `json:"most"`
	// Unlisted is the number of known answers that are not listed, over all queries.
	Unlisted int64 `json:"unlisted"`
}

// Check returns an error for numbers that no run writes.
func (a Answered) Check() error {
	return check.First(check.Count("queries", a.Queries), check.Count("most", a.Most), check.Between("backward", a.Backward, 0, a.Most), check.Count("unlisted", a.Unlisted))
}

func addAnswered(a, b Answered) Answered {
	return Answered{a.Shards + b.Shards, a.Queries + b.Queries, a.Backward + b.Backward, a.Most + b.Most, a.Unlisted + b.Unlisted}
}

// OwnQueries answers a user's queries, those of Queries.Queries or of Queries.Ask, and writes the answers. Output: the URL of answers.tsv. The worker
// that answers a shard writes the shard's part of the table.
func OwnQueries(s beam.Scope, p Params) beam.PCollection {
	s = s.Scope("evaluate.OwnQueries")
	answered := beam.ParDo(s, &askedFn{Params: p}, score.Shards(s, p.Queries))
	return beam.ParDo(s, &answersFn{Params: p}, beam.Combine(s, addAnswered, answered))
}

type askedFn struct{ Params Params }

// ProcessElement answers a shard and writes its parts.
func (f *askedFn) ProcessElement(ctx context.Context, shard score.Shard, emit func(Answered)) error {
	return shard.Ask(ctx, f.Params.Model, f.Params.Queries, func(ctx context.Context, asked *score.Asked) error {
		if err := f.write(f.Params.Lock.Guard(ctx), shard, asked); err != nil {
			return err
		}
		emit(f.answered(asked))
		return nil
	})
}

// answered returns what it took to answer a shard.
func (f *askedFn) answered(asked *score.Asked) Answered {
	a := Answered{Shards: 1, Queries: int64(len(asked.Queries)), Backward: int64(asked.Backward)}
	a.Most = a.Queries * int64(f.Params.Model.Asking().Candidates())
	for _, of := range asked.Answers {
		a.Unlisted += int64(of.Unlisted)
	}
	return a
}

// write writes the part of a shard, in the order of the user's file.
func (f *askedFn) write(ctx context.Context, shard score.Shard, asked *score.Asked) error {
	loaded, err := preprocess.Load(ctx, f.Params.Queries.Graph, f.Params.Queries.Without...)
	if err != nil {
		return err
	}
	view, err := loaded.On(ctx, f.Params.Queries.Split)
	if err != nil {
		return err
	}
	asked.Sort()
	names := evaluation.Names{Entity: func(id int32) string { return view.Entities[id] }, Relations: loaded.Relations}
	rows := names.Answers(asked.Queries, asked.Answers)
	if err := parquet.Write(ctx, parquet.PartFile(f.Params.url(PredictionsTable), shard.Number, shard.Of), rows); err != nil || f.Params.Model.Paths == 0 {
		return err
	}
	return score.Explain(ctx, f.Params.Model, f.Params.Folder, shard.Number, shard.Of, evaluation.Explain(view.Graph, asked.Queries, asked.Answers))
}

type answersFn struct{ Params Params }

// ProcessElement writes the files that are made of all parts, which are in the order of the user's file: the texts of explanations, if there are any,
// and of answers.
func (f *answersFn) ProcessElement(ctx context.Context, a Answered, emit func(string)) error {
	ctx = f.Params.Lock.Guard(ctx)
	if f.Params.Model.Paths > 0 {
		if err := score.WriteExplanations(ctx, f.Params.Folder, a.Shards); err != nil {
			return err
		}
	}
	if err := storage.WriteJSON(ctx, f.Params.url(AnsweredFile), a); err != nil {
		return err
	}
	url := f.Params.url(AnswersFile)
	if err := parquet.WriteText(ctx, url, evaluation.AnswersHeading, f.Params.url(PredictionsTable), a.Shards, evaluation.AnswerLines); err != nil {
		return err
	}
	emit(url)
	return nil
}
