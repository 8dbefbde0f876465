package graph

import (
	"context"
	"fmt"
	"runtime"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/externalsort"
	"tagnet/formats/storage"
	formattriples "tagnet/formats/triples"
	"tagnet/model/budget"
	"tagnet/model/kg"
	"tagnet/stages/counter"
	"tagnet/stages/triples"
	"tagnet/stages/vocabulary"
)

var (
	rowsDone      = counter.New("graph", vocabulary.RowsCounter)
	linesRejected = beam.NewCounter("graph", "lines_rejected")
)

// encodeFn turns names into ids, and facts into runs of rows of the tables they belong to.
type encodeFn struct{ Params WriteParams }

// names are the ids of a graph's names.
type names struct{ training, inference, relations *vocabulary.IDs }

// load loads the vocabularies and plans with the memory that they leave.
func (f *encodeFn) load(ctx context.Context, written []vocabulary.Written) (names, budget.Plan, error) {
	var n names
	total := int64(0)
	for _, w := range written {
		total += w.Names
	}
	plan, err := budget.Preprocess(total).Plan(f.Params.Memory, 0, runtime.GOMAXPROCS(0))
	if err != nil {
		return n, plan, err
	}
	for _, w := range written {
		ids, err := vocabulary.Load(ctx, w)
		if err != nil {
			return n, plan, err
		}
		switch w.File {
		case kg.EntitiesFile:
			n.training = ids
		case kg.InferenceEntitiesFile:
			n.inference = ids
		case kg.RelationsFile:
			n.relations = ids
		}
	}
	return n, plan, nil
}

// ProcessElement encodes a part.
func (f *encodeFn) ProcessElement(ctx context.Context, task Task, emit func(string, Part)) error {
	n, plan, err := f.load(ctx, task.Vocabulary)
	if err != nil {
		return err
	}
	leave, err := externalsort.Enter(plan.Threads)
	if err != nil {
		return err
	}
	defer leave()
	e := newEncoder(f.Params, task.Part, n, vocabulary.Rows(vocabulary.BufferBytes(plan, f.Params.BufferBytes)), emit)
	defer e.end()
	defer e.rejects.Abort()
	err = task.Part.Read(ctx, func(line int, t formattriples.Triple) error { return e.add(ctx, line, t) }, ignore)
	if err != nil {
		return err
	}
	if err := e.flush(ctx); err != nil {
		return err
	}
	rejected, any, err := e.rejects.Commit()
	if any && err == nil {
		rejectsPartFn(rejected, emit)
	}
	return err
}

// ignore passes over bad lines: they were reported when the names were gathered.
func ignore(formattriples.BadLine) error { return nil }

// encoder holds the rows of a part that are not written yet.
type encoder struct {
	params              WriteParams
	part                triples.File
	to                  place
	entities, relations *vocabulary.IDs
	rows, scratch       []externalsort.Row
	rejects             *triples.RejectsWriter
	emit                func(string, Part)
	written             int
}

func newEncoder(p WriteParams, part triples.File, n names, most int, emit func(string, Part)) *encoder {
	e := &encoder{params: p, part: part, to: placeOf(part.Graph, part.Split, p.Inductive), entities: n.training, relations: n.relations, emit: emit}
	if part.Graph == triples.Inference {
		e.entities = n.inference
	}
	const bytesPerLine = 6 // at least: three letters, two tabs and an end
	if part.Length > 0 && !part.Packed {
		most = min(most, 2+2*int(part.Length/bytesPerLine))
	}
	e.rows, e.scratch = externalsort.Buffer(most), externalsort.Buffer(most)
	e.rejects = triples.NewRejectsWriter(e.url("unknown"), part)
	return e
}

// end gives the memory back.
func (e *encoder) end() { externalsort.Return(e.rows, e.scratch) }

// add makes the two queries of a fact, which are also its two edges: source -relation-> answer.
func (e *encoder) add(ctx context.Context, line int, t formattriples.Triple) error {
	if line%vocabulary.CountEvery == 0 {
		if err := externalsort.Going(); err != nil {
			return err
		}
	}
	if e.relations == nil {
		return fmt.Errorf("%s: no training fact is left of which the relations could be known; see what was rejected", e.part.URL)
	}
	var head, tail int32
	known := false
	if e.entities != nil {
		if head, known = e.entities.Of(t.Head); known {
			tail, known = e.entities.Of(t.Tail)
		}
	}
	if !known {
		return fmt.Errorf("%s:%d: an entity of the line is not in the vocabulary just written from it: %w", e.part.URL, line, triples.ErrChanged)
	}
	relation, ok := e.relations.Of(t.Relation)
	if !ok {
		return e.unknown(ctx, line, t)
	}
	if len(e.rows)+2 > cap(e.rows) {
		if err := e.flush(ctx); err != nil {
			return err
		}
	}
	e.rows = append(e.rows, externalsort.Row{head, relation, tail}, externalsort.Row{tail, relation + int32(e.relations.Len()), head})
	return nil
}

// unknown rejects a fact of valid, test or the inference graph by its relation: only now is it known
// which ones there are. The entities that no other line names stay in the vocabulary.
func (e *encoder) unknown(ctx context.Context, line int, t formattriples.Triple) error {
	b := formattriples.BadLine{
		File: e.part.URL, Line: line, Text: t.Line(),
		Reason: fmt.Sprintf("relation %q is in no training fact, so nothing can be learned about it", t.Relation),
		Remedy: "add training facts with it, or leave the line out",
	}
	if e.params.Strict {
		return b
	}
	linesRejected.Inc(ctx, 1)
	return e.rejects.Write(ctx, b)
}

// flush writes the rows as runs: sorted as queries and answers are and, where the facts are edges,
// sorted as those are, a run for each shard.
func (e *encoder) flush(ctx context.Context) error {
	if len(e.rows) == 0 {
		return nil
	}
	rowsDone.Inc(ctx, int64(len(e.rows)/2))
	if err := e.queries(ctx); err != nil {
		return err
	}
	if e.to.edges != nil {
		if err := e.edges(ctx); err != nil {
			return err
		}
	}
	e.written++
	e.rows = e.rows[:0]
	return nil
}

// url is a file of the spill folder that no other part writes.
func (e *encoder) url(of string) string {
	return storage.Join(e.params.Spill, fmt.Sprintf("%s-%s-%05d", of, e.part.Name(), e.written))
}

// element is what tables get of a run.
func (e *encoder) element(run externalsort.Run) Part {
	run.Tag = splitNumber(e.part.Split)
	return Part{BaseRelations: int32(e.relations.Len()), Run: run}
}

// queries writes rows of (source, relation, answer).
func (e *encoder) queries(ctx context.Context) error {
	e.rows, e.scratch = externalsort.Sort(e.rows, e.scratch)
	w, err := externalsort.CreateRows(ctx, e.url("queries"))
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, r := range e.rows {
		if err := w.Write(r); err != nil {
			return err
		}
	}
	part := e.element(w.Cut())
	if err := w.Commit(); err != nil {
		return err
	}
	if e.to.queries != "" {
		e.emit(e.to.queries, part)
	}
	for _, file := range e.to.answers {
		e.emit(file, part)
	}
	return nil
}

// edges writes rows of (tail, head, relation), as formats/tables orders edges.
func (e *encoder) edges(ctx context.Context) error {
	for i, r := range e.rows {
		e.rows[i] = externalsort.Row{r[2], r[0], r[1]}
	}
	e.rows, e.scratch = externalsort.Sort(e.rows, e.scratch)
	w, err := externalsort.CreateRows(ctx, e.url("edges"))
	if err != nil {
		return err
	}
	defer w.Abort()
	var ended []Part
	shards := make([]int, 0, e.params.EdgeShards)
	for i, r := range e.rows {
		shard := e.shard(r[0])
		if i > 0 && shard != shards[len(shards)-1] {
			ended = append(ended, e.element(w.Cut()))
		}
		if i == 0 || shard != shards[len(shards)-1] {
			shards = append(shards, shard)
		}
		if err := w.Write(r); err != nil {
			return err
		}
	}
	ended = append(ended, e.element(w.Cut()))
	if err := w.Commit(); err != nil {
		return err
	}
	for i, part := range ended {
		e.emit(e.to.edges(shards[i], e.params.EdgeShards), part)
	}
	return nil
}

// shard is where the edges lie that lead to an entity: equal ranges of ids, in order.
func (e *encoder) shard(tail int32) int {
	return int(int64(tail) * int64(e.params.EdgeShards) / int64(e.entities.Len()))
}
