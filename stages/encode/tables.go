package encode

import (
	"context"

	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/storage/externalsort"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph/kg"
	"tagnet/stages/worker"
)

// rowsRepeated counts rows left out because they repeat another. A repeated fact is two rows in each
// table that it belongs to.
var rowsRepeated = worker.NewCounter("graph", "rows_repeated")

// writeFn merges the spill files of a table and writes it. The table does not depend on the order in
// which they arrive. A thread holds a batch of the table and a buffer for each spill file.
type writeFn struct {
	Params WriteParams

	tables worker.Concurrent[TableCounts]
}

func (f *writeFn) ProcessElement(ctx context.Context, file string, inputs func(*TableInput) bool, _ func(TableCounts)) error {
	threads, _, err := divideMemory(f.Params.Memory, 0, 0)
	if err != nil {
		return err
	}
	// The spills of rows, or the files of rejected lines.
	t := tableWriter{url: storage.Join(f.Params.Folder, file), spillPrefix: storage.Join(f.Params.Spill, file), counts: TableCounts{File: file}}
	for input := (TableInput{}); inputs(&input); {
		if input.Spill.Records > 0 {
			t.spills = append(t.spills, input.Spill)
			t.baseRelations = input.BaseRelations
		}
		if input.Rejects.Lines > 0 {
			t.rejects = append(t.rejects, input.Rejects)
		}
	}
	return f.tables.Go(ctx, threads, func(ctx context.Context) (TableCounts, error) {
		err := t.write(f.Params.Lock.Guard(ctx))
		rowsRepeated.Inc(ctx, t.counts.Repeated)
		return t.counts, err
	})
}

func (f *writeFn) FinishBundle(_ context.Context, emit func(TableCounts)) error {
	return f.tables.Finish(emit)
}

type tableWriter struct {
	url, spillPrefix string
	spills           []externalsort.Spill
	rejects          []triples.Rejects
	baseRelations    int32
	counts           TableCounts
}

// write writes the table, which the name of its file decides.
func (t *tableWriter) write(ctx context.Context) (err error) {
	split, isQueries := kg.SplitOf(t.counts.File)
	switch {
	case t.counts.File == kg.RejectsFile:
		t.counts.RejectedLines, err = triples.MergeRejects(ctx, t.url, t.rejects)
	case kg.IsEdges(t.counts.File):
		err = t.edges(ctx)
	case isQueries:
		err = t.queries(ctx, split)
	default:
		err = t.answers(ctx)
	}
	return err
}

// merge calls each with the rows in order, and the index of their split.
func (t *tableWriter) merge(ctx context.Context, each func(r externalsort.Row, split int) error) error {
	counted := 0
	err := externalsort.Merge(ctx, externalsort.Rows, t.spills, t.spillPrefix, func(r externalsort.Row, split int) error {
		if counted++; counted%CountEvery == 0 {
			rowsDone.Inc(ctx, CountEvery)
		}
		return each(r, split)
	})
	rowsDone.Inc(ctx, int64(counted%CountEvery))
	return err
}

// mergeDistinct calls each with every different row once, and counts rows and repetitions. previous is the
// row of the previous call of each.
func (t *tableWriter) mergeDistinct(ctx context.Context, each func(r, previous externalsort.Row) error) error {
	last := externalsort.Row{-1}
	return t.merge(ctx, func(r externalsort.Row, _ int) error {
		if r == last {
			t.counts.Repeated++
			return nil
		}
		previous := last
		last = r
		t.counts.Rows++
		return each(r, previous)
	})
}

// edges writes rows of (tail, head, relation), each once.
func (t *tableWriter) edges(ctx context.Context) error {
	w, err := tables.CreateEdges(ctx, t.url)
	if err != nil {
		return err
	}
	defer w.Abort()
	in, out := int64(0), int64(0) // the facts of which the entity whose edges are written is the tail, and the head
	err = t.mergeDistinct(ctx, func(r, previous externalsort.Row) error {
		tail, head, relation := r[0], r[1], r[2]
		if tail != previous[0] {
			t.counts.Degrees.add(in, out)
			in, out = 0, 0
		}
		if relation < t.baseRelations {
			in++
		} else { // an inverse edge: the fact leads from the entity
			out++
		}
		return w.Write(tail, relation, head)
	})
	if err != nil {
		return err
	}
	t.counts.Degrees.add(in, out)
	return w.Commit()
}

// samePair reports whether two rows of (source, relation, answer) have the same source and relation.
func samePair(a, b externalsort.Row) bool { return a[0] == b[0] && a[1] == b[1] }

// queries writes rows of (source, relation, answer), each once, and counts them all. Of training facts it leaves the
// inverse queries out.
func (t *tableWriter) queries(ctx context.Context, split string) error {
	w, err := tables.CreateQueries(ctx, t.url)
	if err != nil {
		return err
	}
	defer w.Abort()
	err = t.mergeDistinct(ctx, func(r, previous externalsort.Row) error {
		if !samePair(r, previous) {
			t.counts.Distinct++
		}
		source, relation, answer := r[0], r[1], r[2]
		if split == "train" && relation >= t.baseRelations {
			return nil
		}
		return w.Write(source, relation, answer)
	})
	if err != nil {
		return err
	}
	return w.Commit()
}

// answers writes the known answers of each (source, relation), from rows of (source, relation,
// answer). It holds the answers of one pair at a time.
func (t *tableWriter) answers(ctx context.Context) error {
	w, err := tables.CreateAnswers(ctx, t.url)
	if err != nil {
		return err
	}
	defer w.Abort()
	var list []int32
	last, firstSplit, lastSplit := externalsort.Row{-1}, 0, 0 // the previous row and the splits that have it
	writePair := func() error {
		if len(list) == 0 {
			return nil
		}
		t.counts.Distinct++
		defer func() { list = list[:0] }()
		return w.Write(last[0], last[1], list)
	}
	// Equal rows come from several splits or are repeated; a new pair completes the one before.
	err = t.merge(ctx, func(r externalsort.Row, split int) error {
		if r == last {
			t.counts.count(firstSplit, lastSplit, split)
			lastSplit = split
			return nil
		}
		if !samePair(r, last) {
			if err := writePair(); err != nil {
				return err
			}
		}
		if len(list) > tables.MostAnswers {
			errTooMany := w.Write(r[0], r[1], list) // refuses so long a list
			return errTooMany
		}
		last, firstSplit, lastSplit = r, split, split
		list = append(list, r[2])
		t.counts.Rows++
		return nil
	})
	if err == nil {
		err = writePair()
	}
	if err != nil {
		return err
	}
	return w.Commit()
}

// count counts a repetition of a fact whose first and last split so far are given: in the same split,
// or in a later one.
func (c *TableCounts) count(first, last, split int) {
	if split == last {
		c.Repeated++
		return
	}
	if kg.Splits[first] != "train" {
		return
	}
	switch kg.Splits[split] {
	case "valid":
		c.KnownValid++
	case "test":
		c.KnownTest++
	}
}
