package graph

import (
	"context"
	"runtime"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/externalsort"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/budget"
	"tagnet/model/kg"
	"tagnet/stages/triples"
	"tagnet/stages/vocabulary"
)

// rowsRepeated counts rows left out because they stood there already. A repeated fact is two
// rows in each table that it is in.
var rowsRepeated = beam.NewCounter("graph", "rows_repeated")

// writeFn merges the runs of a table and writes it, so that the order of arrival is gone. A worker
// holds a batch of a table, and a buffer of each run.
type writeFn struct{ Params WriteParams }

// ProcessElement writes one table.
func (f *writeFn) ProcessElement(ctx context.Context, file string, parts func(*Part) bool, emit func(Done)) error {
	plan, err := budget.Preprocess(0).Plan(f.Params.Memory, 0, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	leave, err := externalsort.Enter(plan.Threads)
	if err != nil {
		return err
	}
	defer leave()
	t := table{url: storage.Join(f.Params.Folder, file), spill: storage.Join(f.Params.Spill, file)}
	for part := (Part{}); parts(&part); {
		if part.Run.Rows > 0 {
			t.runs = append(t.runs, part.Run)
			t.baseRelations = part.BaseRelations
		}
		if part.Rejects.Lines > 0 {
			t.rejects = append(t.rejects, part.Rejects)
		}
	}
	t.done.File = file
	_, isQueries := kg.SplitOf(file)
	switch {
	case file == kg.RejectsFile:
		t.done.RejectedLines, err = triples.JoinRejects(ctx, t.url, t.rejects)
	case kg.IsEdges(file):
		err = t.edges(ctx)
	case isQueries:
		err = t.queries(ctx)
	default:
		err = t.answers(ctx)
	}
	if err != nil {
		return err
	}
	rowsRepeated.Inc(ctx, t.done.Repeated)
	emit(t.done)
	return nil
}

// table is one table in the making.
type table struct {
	url, spill    string
	runs          []externalsort.Run
	rejects       []triples.Rejects
	baseRelations int32
	done          Done
}

// merge calls each for the rows in order, with the number of the split that they are of.
func (t *table) merge(ctx context.Context, each func(r externalsort.Row, split int) error) error {
	counted := 0
	err := externalsort.MergeRows(ctx, t.runs, t.spill, func(r externalsort.Row, split int) error {
		if counted++; counted%vocabulary.CountEvery == 0 {
			rowsDone.Inc(ctx, vocabulary.CountEvery)
		}
		return each(r, split)
	})
	rowsDone.Inc(ctx, int64(counted%vocabulary.CountEvery))
	return err
}

// once is merge without the rows that repeat the one before, which it counts as it does the others.
// before is the row that each was last called with.
func (t *table) once(ctx context.Context, each func(r, before externalsort.Row) error) error {
	last := externalsort.Row{-1}
	return t.merge(ctx, func(r externalsort.Row, _ int) error {
		if r == last {
			t.done.Repeated++
			return nil
		}
		before := last
		last = r
		t.done.Rows++
		return each(r, before)
	})
}

// edges writes rows of (tail, head, relation), each once.
func (t *table) edges(ctx context.Context) error {
	w, err := tables.CreateEdges(ctx, t.url)
	if err != nil {
		return err
	}
	defer w.Abort()
	err = t.once(ctx, func(r, _ externalsort.Row) error { return w.Write(r[0], r[2], r[1]) })
	if err != nil {
		return err
	}
	return w.Commit()
}

// samePair tells whether two rows of (source, relation, answer) ask the same.
func samePair(a, b externalsort.Row) bool { return a[0] == b[0] && a[1] == b[1] }

// queries writes rows of (source, relation, answer), each once.
func (t *table) queries(ctx context.Context) error {
	w, err := tables.CreateQueries(ctx, t.url)
	if err != nil {
		return err
	}
	defer w.Abort()
	err = t.once(ctx, func(r, before externalsort.Row) error {
		if !samePair(r, before) {
			t.done.Distinct++
		}
		return w.Write(tables.Query{Source: r[0], Relation: r[1], Answer: r[2], Reciprocal: r[1] >= t.baseRelations})
	})
	if err != nil {
		return err
	}
	return w.Commit()
}

// answers writes the known answers of each (source, relation) among rows of (source, relation,
// answer). It holds those of one pair.
func (t *table) answers(ctx context.Context) error {
	w, err := tables.CreateAnswers(ctx, t.url)
	if err != nil {
		return err
	}
	defer w.Abort()
	var list []int32
	last, first, before := externalsort.Row{-1}, 0, 0 // the fact before: the first split of it, and the last so far
	pair := func() error {
		if len(list) == 0 {
			return nil
		}
		t.done.Distinct++
		defer func() { list = list[:0] }()
		return w.Write(last[0], last[1], list)
	}
	err = t.merge(ctx, func(r externalsort.Row, split int) error {
		if r == last {
			t.done.count(first, before, split)
			before = split
			return nil
		}
		if !samePair(r, last) {
			if err := pair(); err != nil {
				return err
			}
		}
		if len(list) > tables.MostAnswers {
			return w.Write(r[0], r[1], list) // which says so
		}
		last, first, before = r, split, split
		list = append(list, r[2])
		t.done.Rows++
		return nil
	})
	if err == nil {
		err = pair()
	}
	if err != nil {
		return err
	}
	return w.Commit()
}

// count notes a fact that stands again: in its own split, or in a later one as well.
func (d *Done) count(first, before, again int) {
	if again == before {
		d.Repeated++
		return
	}
	if kg.Splits[first] != "train" {
		return
	}
	switch kg.Splits[again] {
	case "valid":
		d.KnownValid++
	case "test":
		d.KnownTest++
	}
}

// splitNumber is the place of a split among kg.Splits.
func splitNumber(split string) int { return slices.Index(kg.Splits, split) }
