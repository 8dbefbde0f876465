package encode

import (
	"context"
	"fmt"
	"slices"

	"tagnet/formats/input/triples"
	"tagnet/formats/remedy"
	"tagnet/formats/storage/externalsort"
	"tagnet/model/graph/kg"
	"tagnet/stages/worker"
)

var (
	rowsDone      = worker.NewCounter("graph", RowsCounter)
	linesRejected = worker.NewCounter("graph", "lines_rejected")
)

// encodeFn turns names into ids, and the facts of a chunk into sorted rows of the tables that they
// belong to, in spill files.
type encodeFn struct {
	Params WriteParams

	chunks worker.Concurrent[[]fileInput]
}

// fileInput is a TableInput with the table's file.
type fileInput struct {
	file  string
	input TableInput
}

type names struct{ training, inference, relations *kg.IDs }

func (f *encodeFn) load(ctx context.Context, written []Names) (n names, err error) {
	for _, w := range written {
		ids, err := loadIDs(ctx, w)
		if err != nil {
			return n, err
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
	return n, nil
}

func (f *encodeFn) ProcessElement(ctx context.Context, task Task, _ func(string, TableInput)) error {
	// The names are in memory once, the buffers once a thread.
	total := int64(0)
	for _, w := range task.Vocabulary {
		total += w.Names
	}
	threads, buffer, err := divideMemory(f.Params.Memory, total, f.Params.BufferBytes)
	if err != nil {
		return err
	}
	ctx = f.Params.Lock.Guard(ctx)
	n, err := f.load(ctx, task.Vocabulary)
	if err != nil {
		return err
	}
	return f.chunks.Go(ctx, threads, func(ctx context.Context) ([]fileInput, error) { return f.encode(ctx, task.Chunk, n, buffer) })
}

// FinishBundle emits what the chunks add to tables.
func (f *encodeFn) FinishBundle(_ context.Context, emit func(string, TableInput)) error {
	return f.chunks.Finish(func(inputs []fileInput) {
		for _, i := range inputs {
			emit(i.file, i.input)
		}
	})
}

func (f *encodeFn) encode(ctx context.Context, chunk triples.Chunk, n names, buffer int64) ([]fileInput, error) {
	e := newEncoder(f.Params, chunk, n, externalsort.RowsIn(buffer))
	defer func() { externalsort.Return(e.rows, e.scratch) }()
	defer e.rejects.Abort()
	err := chunk.Read(ctx, func(line int, t triples.Triple) error { return e.add(ctx, line, t) }, func(triples.BadLine) error {
		return nil // Vocabulary has reported it
	})
	if err != nil {
		return nil, err
	}
	if err := e.flush(ctx); err != nil {
		return nil, err
	}
	rejected, any, err := e.rejects.Commit()
	if any && err == nil {
		rejectsFn(rejected, e.emit)
	}
	return e.inputs, err
}

// encoder holds the rows of a chunk that are not written yet.
type encoder struct {
	params              WriteParams
	chunk               triples.Chunk
	to                  kg.Destination
	entities, relations *kg.IDs
	rows, scratch       []externalsort.Row
	rejects             *triples.RejectsWriter
	inputs              []fileInput
	written             int
}

// emit adds rows or rejected lines to a table.
func (e *encoder) emit(file string, input TableInput) {
	e.inputs = append(e.inputs, fileInput{file, input})
}

// newEncoder returns an encoder of a chunk that sorts maxRows edges at a time, or fewer if the chunk cannot have them.
func newEncoder(p WriteParams, chunk triples.Chunk, n names, maxRows int) *encoder {
	e := &encoder{params: p, chunk: chunk, to: kg.DestinationOf(chunk.Graph, chunk.Split, p.onInference()), entities: n.training, relations: n.relations}
	if chunk.Graph == triples.Inference {
		e.entities = n.inference
	}
	const lineBytes = 6 // at least: three letters, two tabs and a line end
	if chunk.Length > 0 && !chunk.Packed {
		maxRows = min(maxRows, 2+2*int(chunk.Length/lineBytes))
	}
	e.rows, e.scratch = externalsort.Buffer(maxRows), externalsort.Buffer(maxRows)
	e.rejects = triples.NewRejectsWriter(p.spillOf(chunk, "unknown", 0), chunk)
	return e
}

// add makes the two queries of a fact, (head, relation) and (tail, inverse relation). As rows of
// (source, relation, answer) they are also its two edges.
func (e *encoder) add(ctx context.Context, line int, t triples.Triple) error {
	if line%CountEvery == 0 {
		if err := context.Cause(ctx); err != nil {
			return err
		}
	}
	if e.relations == nil {
		return fmt.Errorf("%s: its relations are unknown, because the dataset has no training facts (all lines of train.txt are rejected)", e.chunk.File())
	}
	// All names of entities are in the vocabulary, unless the text was changed since it was read for it.
	var head, tail int32
	known := false
	if e.entities != nil {
		if head, known = e.entities.Of(t.Head); known {
			tail, known = e.entities.Of(t.Tail)
		}
	}
	if !known {
		return fmt.Errorf("%s:%d: an entity of the line is not in the vocabulary: %w", e.chunk.File(), line, triples.ErrChanged)
	}
	// Relations are the training facts': other facts are rejected.
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

// unknown rejects a fact of valid, test or the inference graph whose relation is in no training fact.
// This is known only here. Entities of rejected lines stay in the vocabulary.
func (e *encoder) unknown(ctx context.Context, line int, t triples.Triple) error {
	b := triples.BadLine{
		File: e.chunk.File(), Line: line, Text: triples.Shown([]byte(t.Line())),
		Reason: fmt.Sprintf("relation %q is in no training fact, so nothing can be learned about it", t.Relation),
		Remedy: remedy.Do("add training facts with it"),
	}
	if e.chunk.Graph == triples.Inference {
		b.Remedy = remedy.Do("%v, or read the inference graph alone, for a model that answers on any graph (as %v, or with %v %s)", b.Remedy,
			remedy.Flag("dataset"), remedy.Flag("inference_only"), "where one folder has both graphs")
	}
	if e.params.Strict {
		return triples.Refuse(b)
	}
	linesRejected.Inc(ctx, 1)
	return e.rejects.Write(ctx, b)
}

// flush writes the rows in the order of queries and answers and, if the facts are edges, also in the
// order of edges, split by shard.
func (e *encoder) flush(ctx context.Context) error {
	if len(e.rows) == 0 {
		return nil
	}
	rowsDone.Inc(ctx, int64(len(e.rows)/2))
	if err := e.queries(ctx); err != nil {
		return err
	}
	if e.to.Edges != nil {
		if err := e.edges(ctx); err != nil {
			return err
		}
	}
	e.written++
	e.rows = e.rows[:0]
	return nil
}

// input returns the element that adds a spill to tables.
func (e *encoder) input(spill externalsort.Spill) TableInput {
	spill.Tag = max(0, slices.Index(kg.Splits, e.chunk.Split)) // background facts count as training facts
	return TableInput{BaseRelations: int32(e.relations.Len()), Spill: spill}
}

// queries writes rows of (source, relation, answer).
func (e *encoder) queries(ctx context.Context) error {
	e.rows, e.scratch = externalsort.Sort(e.rows, e.scratch)
	spill, err := externalsort.Write(ctx, e.params.spillOf(e.chunk, "queries", e.written), externalsort.Rows, slices.Values(e.rows))
	if err != nil {
		return err
	}
	input := e.input(spill)
	if e.to.Queries != "" {
		e.emit(e.to.Queries, input)
	}
	e.emit(e.to.Answers, input)
	return nil
}

// edges writes rows of (tail, head, relation), as formats/workspace/tables orders edges.
func (e *encoder) edges(ctx context.Context) error {
	for i, r := range e.rows {
		e.rows[i] = externalsort.Row{r[2], r[0], r[1]}
	}
	e.rows, e.scratch = externalsort.Sort(e.rows, e.scratch)
	w, err := externalsort.Create(ctx, e.params.spillOf(e.chunk, "edges", e.written), externalsort.Rows)
	if err != nil {
		return err
	}
	defer w.Abort()
	// One file has the rows of all tables, a section of it each: shards are ascending by tail.
	var inputs []TableInput
	shards := make([]int, 0, e.params.EdgeShards)
	for i, r := range e.rows {
		shard := e.shard(r[0])
		if i > 0 && shard != shards[len(shards)-1] {
			inputs = append(inputs, e.input(w.Cut()))
		}
		if i == 0 || shard != shards[len(shards)-1] {
			shards = append(shards, shard)
		}
		if err := w.Write(r); err != nil {
			return err
		}
	}
	inputs = append(inputs, e.input(w.Cut()))
	if err := w.Commit(); err != nil {
		return err
	}
	for i, input := range inputs {
		e.emit(e.to.Edges(shards[i], e.params.EdgeShards), input)
	}
	return nil
}

// shard returns the shard of the edges that lead to an entity. Shards are equal ranges of ids.
func (e *encoder) shard(tail int32) int {
	return int(int64(tail) * int64(e.params.EdgeShards) / int64(e.entities.Len()))
}
