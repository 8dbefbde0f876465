package predict

import (
	"context"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/parallel"
	"tagnet/stages/evaluation"
	"tagnet/stages/worker"
)

// AnswersCounter names the counter of the answers that are explained.
const AnswersCounter = "explained_answers"

var explainedAnswers = worker.NewCounter("score", AnswersCounter)

// The names of the outputs of explanations, in the folder of what is explained.
const (
	ExplanationsTable = "explanations"     // a folder of parts
	ExplanationsFile  = "explanations.tsv" // the same for reading
)

// Explain finds the reasons of answers and the paths to them, on the processor of this process, and writes them in
// their order as a part of the table of a folder. The context is the one that Beam passed to a DoFn.
func Explain(ctx context.Context, p Params, folder string, number, of int, answers []evaluation.Explained) error {
	m, err := p.model(ctx)
	if err != nil {
		return err
	}
	mined, err := p.Rules.read(ctx)
	if err != nil {
		return err
	}
	count := explainedAnswers.Adder(ctx)
	err = parallel.Try(ctx, m.Resources.Threads, len(answers), func(within context.Context, _, i int) error {
		a := &answers[i]
		var err error
		if a.Why, err = m.Why(within, mined, a.Query, p.Queries.Paths, p.Walks); err != nil {
			return err
		}
		count(1)
		return nil
	})
	if err != nil {
		return p.named(m, err)
	}
	rows, err := evaluation.Explanations(m.View.Entities, m.KG.Relations, answers)
	if err != nil {
		return err
	}
	return parquet.Write(ctx, parquet.PartFile(storage.Join(folder, ExplanationsTable), number, of), rows)
}

// WriteExplanations writes the table of explanations of a folder, which has a number of parts, as text.
func WriteExplanations(ctx context.Context, folder string, parts int) error {
	table, url := storage.Join(folder, ExplanationsTable), storage.Join(folder, ExplanationsFile)
	return parquet.WriteText(ctx, url, evaluation.ExplanationsHeading, table, parts, evaluation.ExplanationLines)
}
