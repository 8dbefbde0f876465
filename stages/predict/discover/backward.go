package discover

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/storage/externalsort"
	"tagnet/formats/workspace/tables"
	"tagnet/model/answer"
	"tagnet/model/answer/discovery"
	"tagnet/model/answer/workload"
	"tagnet/model/budget"
	"tagnet/model/graph"
	"tagnet/stages/predict"
	"tagnet/stages/worker"
)

func init() { beam.RegisterDoFn(&backwardFn{}) }

// wantedRows counts, beside what is scored, the answers that need not be asked.
var wantedRows = worker.NewCounter("discover", predict.RowsCounter)

// BackwardParams are the parameters of Backward.
type BackwardParams struct {
	predict.Params
	// Spills has the spill files, Of the names of the candidates. Required.
	Spills SpillFolder
	Of     []string
}

// backwardName begins the names of the spill files of Backward, and of their index.
const backwardName = "backward"

// Backward asks the other query of each candidate that only one of its two queries lists, once for each query. Output:
// the URL of the index.
func Backward(s beam.Scope, p BackwardParams) beam.PCollection {
	s = s.Scope("discover.Backward")
	return index(s, p.Spills, backwardName, beam.ParDo(s, &backwardFn{Params: p}, ranges(s)))
}

func ranges(s beam.Scope) beam.PCollection {
	var all []int
	for r := range Ranges {
		all = append(all, r)
	}
	return beam.Reshuffle(s, beam.CreateList(s, all))
}

type backwardFn struct{ Params BackwardParams }

// ProcessElement asks the queries of a range of sources.
func (f *backwardFn) ProcessElement(ctx context.Context, number int, emit func(Section)) error {
	ctx, leave, err := worker.Enter(f.Params.Spills.Lock.Guard(ctx), budget.Shards)
	if err != nil {
		return err
	}
	defer leave()
	p := f.Params
	view, names, err := p.View(ctx)
	if err != nil {
		return err
	}
	// The asker collects queries and asks them when there are enough.
	a := asker{params: p, number: number, base: int32(len(names.Relations)), emit: emit}
	if a.known, err = view.Answers(ctx); err != nil {
		return err
	}
	emit(Section{}) // so that there is an index even if nothing is queried
	// Both lists are sorted by answer: those that a query listed, and those that are wanted. Wanted ones without
	// a rank are queried.
	spills, err := p.Spills.ofRange(ctx, p.Of, answerRecords, number)
	if err != nil {
		return err
	}
	add, end := discovery.Lacking(func(q graph.Query, answers []int32) error { return a.add(ctx, q, answers) })
	prefix := storage.Join(p.Spills.Folder, fmt.Sprintf("%s-%02d", backwardName, number))
	wantedRecords := 0
	err = externalsort.Merge(ctx, externalsort.Rows, spills, prefix, func(r externalsort.Row, tag int) error {
		if tag == discovery.IsWanted {
			wantedRecords++
		}
		return add(r, tag)
	})
	if err != nil {
		return err
	}
	if err := end(); err != nil {
		return err
	}
	if err := a.ask(ctx); err != nil {
		return err
	}
	wantedRows.Inc(ctx, int64(wantedRecords-a.askedRows))
	return nil
}

// asker asks queries of a range, and writes their answers to a file for as many as a shard has.
type asker struct {
	params    BackwardParams
	number    int // of the range
	base      int32
	known     tables.Answers
	emit      func(Section)
	queries   []answer.Request
	rows      int // of queries
	askedRows int // rows
	files     int
}

// add adds a query with the answers that are wanted of it.
func (a *asker) add(ctx context.Context, q graph.Query, answers []int32) error {
	request := answer.Request{Query: q, Rows: make([]int64, len(answers)), Answers: slices.Clone(answers), Known: a.known.Of(q.Source, q.Relation)}
	a.queries, a.rows = append(a.queries, request), a.rows+len(answers)
	if a.rows < workload.MaxRows {
		return nil
	}
	return a.ask(ctx)
}

// ask asks what was added, and writes the answers.
func (a *asker) ask(ctx context.Context) error {
	if a.rows == 0 {
		return nil
	}
	scored, err := predict.Rank(ctx, a.params.Params, a.queries)
	if err != nil {
		return err
	}
	var candidates []discovery.Candidate
	for i := range scored.Queries {
		candidates = append(candidates, discovery.LabelledAnswers(&scored.Queries[i], a.base)...)
	}
	a.emit(Section{Queries: int64(len(a.queries))})
	name := fmt.Sprintf("%s-%02d-%05d", backwardName, a.number, a.files)
	a.queries, a.rows, a.askedRows, a.files = nil, 0, a.askedRows+a.rows, a.files+1
	return a.params.Spills.writeFacts(ctx, name, candidates, a.emit)
}
