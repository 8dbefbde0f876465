package predict

import (
	"context"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/strict"
	"tagnet/formats/workspace/parquet"
	"tagnet/stages/evaluation"
)

func init() {
	beam.RegisterDoFn(&answersFn{})
	beam.RegisterDoFn(&answersTextFn{})
	beam.RegisterType(reflect.TypeFor[Answered]())
	beam.RegisterFunction(addAnswered)
}

// The names of the outputs of Answers: a table, which is a folder of parts, and files.
const (
	AnswersTable = "answers"
	AnswersFile  = "answers.tsv"
	AnsweredFile = "answered.json"
)

// Answered counts the queries that answering took, and the known answers that are left out. It is an element of
// pipelines, and the content of AnsweredFile.
type Answered struct {
	Shards int `json:"-"`
	// Queries is the number of queries, Backward the number of further queries that their candidates took: in the other
	// direction, and for those of which one is true at most.
	Queries  int64 `json:"queries"`
	Backward int64 `json:"backward"`
	// Unlisted is the number of known answers that are not listed, over all queries.
	Unlisted int64 `json:"unlisted"`
}

// Check returns an error for numbers that no run writes.
func (a Answered) Check() error {
	return strict.First(strict.Count("queries", a.Queries), strict.Count("backward", a.Backward), strict.Count("unlisted", a.Unlisted))
}

func addAnswered(a, b Answered) Answered {
	return Answered{a.Shards + b.Shards, a.Queries + b.Queries, a.Backward + b.Backward, a.Unlisted + b.Unlisted}
}

// Answers answers a user's queries and writes the answers. Output: the URL of answers.tsv.
func Answers(s beam.Scope, p AskParams) beam.PCollection {
	s = s.Scope("predict.Answers")
	answered := beam.ParDo(s, &answersFn{Params: p}, Shards(s, p.Queries))
	return beam.ParDo(s, &answersTextFn{Params: p}, beam.Combine(s, addAnswered, answered))
}

type answersFn struct{ Params AskParams }

// ProcessElement answers a shard and writes its parts.
func (f *answersFn) ProcessElement(ctx context.Context, shard Shard, emit func(Answered)) error {
	return f.Params.answer(ctx, shard, func(ctx context.Context, asked *answered) error {
		if err := f.write(f.Params.Lock.Guard(ctx), shard, asked); err != nil {
			return err
		}
		emit(f.took(asked))
		return nil
	})
}

// took returns the counts of a shard.
func (f *answersFn) took(asked *answered) Answered {
	a := Answered{Shards: 1, Queries: int64(len(asked.queries)), Backward: int64(asked.backward)}
	for _, answers := range asked.answers {
		a.Unlisted += int64(answers.Unlisted)
	}
	return a
}

// write writes the part of a shard, in the order of the user's file.
func (f *answersFn) write(ctx context.Context, shard Shard, asked *answered) error {
	view, names, err := f.Params.View(ctx)
	if err != nil {
		return err
	}
	asked.sort()
	rows := names.Answers(asked.queries, asked.answers)
	if err := parquet.Write(ctx, parquet.PartFile(f.Params.url(AnswersTable), shard.Number, shard.Of), rows); err != nil || f.Params.Queries.Paths == 0 {
		return err
	}
	return Explain(ctx, f.Params.Params, f.Params.Folder, shard.Number, shard.Of, evaluation.Explain(view.Graph, asked.queries, asked.answers))
}

type answersTextFn struct{ Params AskParams }

// ProcessElement writes the files that are made of all parts, which are in the order of the user's file: the texts of
// explanations, if there are any, and of answers.
func (f *answersTextFn) ProcessElement(ctx context.Context, a Answered, emit func(string)) error {
	ctx = f.Params.Lock.Guard(ctx)
	if f.Params.Queries.Paths > 0 {
		if err := WriteExplanations(ctx, f.Params.Folder, a.Shards); err != nil {
			return err
		}
	}
	if err := storage.WriteJSON(ctx, f.Params.url(AnsweredFile), a); err != nil {
		return err
	}
	url := f.Params.url(AnswersFile)
	if err := parquet.WriteText(ctx, url, evaluation.AnswersHeading, f.Params.url(AnswersTable), a.Shards, evaluation.AnswerLines); err != nil {
		return err
	}
	emit(url)
	return nil
}

// AskParams are the parameters of Answers and Triples.
type AskParams struct {
	// Params selects the queries from the table Queries.Queries, whose kind is Queries.TableKind, or by Queries.Ask.
	Params
	// Relations is the number of relations that are kept of each pair, if Queries.TableKind has pairs.
	Relations int
	// Folder is the URL of the output folder. Required.
	Folder string
	// Lock guards Folder; the zero Lock is never lost.
	Lock lock.Lock
}

func (p AskParams) url(name string) string { return storage.Join(p.Folder, name) }
