package vocabulary

import (
	"context"
	"fmt"
	"reflect"
	"runtime"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/externalsort"
	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	formattriples "tagnet/formats/triples"
	"tagnet/model/budget"
	"tagnet/model/kg"
	"tagnet/stages/counter"
	"tagnet/stages/triples"
)

// RowsCounter is the counter of lines and rows that preprocessing has dealt with, in all of its
// steps.
const RowsCounter = "rows_done"

var (
	rowsDone      = counter.New("vocabulary", RowsCounter)
	linesRejected = beam.NewCounter("vocabulary", "lines_rejected")
)

// CountEvery is how many rows are counted at a time.
const CountEvery = 1 << 16

// BuildParams says where the vocabulary is written, and with what.
type BuildParams struct {
	// Folder is the URL of the folder that takes the files; Spill that of a folder for what is
	// removed in the end.
	Folder, Spill string
	// Strict makes the first line of a part that is no fact an error, as the parser words it.
	// Otherwise such lines are rejected and reading goes on.
	Strict bool
	// Memory is the bytes that a worker process may take; it changes no byte of what is written.
	Memory int64
	// BufferBytes bounds the bytes of what a thread sorts; 0 is all that Memory leaves.
	BufferBytes int64
}

// BufferBytes returns how many bytes a thread may take for what it sorts: what a plan leaves, or less
// where a limit that is not 0 is lower.
func BufferBytes(plan budget.Plan, limit int64) int64 {
	if limit > 0 {
		return min(limit, plan.BufferBytes())
	}
	return plan.BufferBytes()
}

// Rows returns how many rows may be sorted at a time in so many bytes, at least those of a fact.
func Rows(bytes int64) int { return int(max(2, bytes/(2*externalsort.RowBytes))) }

// Written is a vocabulary file that is there, and an element of the stage's output.
type Written struct {
	// File is its name, URL where it lies, Version a hash of its content.
	File, URL, Version string
	// Names is how many it holds.
	Names int64
}

// Build writes the names of facts: the entities of each graph, from all of its splits, and
// the base relations, from the training facts. Input: triples.File. Output: Written, one for each
// file, and triples.Rejects, one for each part with bad lines.
//
// Its steps: (1) each part's distinct names are sorted and written as runs, a new one when they
// take the memory of a thread; (2) the runs of a file are merged. Only externalsort.Run cross the barrier.
func Build(s beam.Scope, files beam.PCollection, p BuildParams) (written, rejects beam.PCollection) {
	s = s.Scope("vocabulary.Build")
	names, rejects := beam.ParDo2(s, &namesFn{Params: p}, beam.Reshuffle(s, files))
	return beam.ParDo(s, &writeFn{Params: p}, beam.GroupByKey(s, names)), rejects
}

func init() {
	beam.RegisterDoFn(&namesFn{})
	beam.RegisterDoFn(&writeFn{})
	beam.RegisterType(reflect.TypeOf((*triples.File)(nil)).Elem())
	beam.RegisterType(reflect.TypeOf((*triples.Rejects)(nil)).Elem())
	beam.RegisterType(reflect.TypeOf((*externalsort.Run)(nil)).Elem())
	beam.RegisterType(reflect.TypeOf((*Written)(nil)).Elem())
}

// namesFn gathers the distinct names of a part.
type namesFn struct{ Params BuildParams }

// ProcessElement reads one part from its beginning to its end.
func (f *namesFn) ProcessElement(ctx context.Context, part triples.File, emit func(string, externalsort.Run), emitRejects func(triples.Rejects)) error {
	plan, err := budget.Preprocess(0).Plan(f.Params.Memory, 0, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	leave, err := externalsort.Enter(plan.Threads)
	if err != nil {
		return err
	}
	defer leave()
	g := gatherer{params: f.Params, part: part, most: BufferBytes(plan, f.Params.BufferBytes) / 2, entities: newSet(), relations: newSet(), emit: emit}
	rejects := triples.NewRejectsWriter(g.url("rejects"), part)
	defer rejects.Abort()
	counted := int64(0)
	err = part.Read(ctx, func(_ int, t formattriples.Triple) error {
		if counted++; counted%CountEvery == 0 {
			rowsDone.Inc(ctx, CountEvery)
			if err := externalsort.Going(); err != nil {
				return err
			}
		}
		return g.add(ctx, t)
	}, func(b formattriples.BadLine) error {
		if f.Params.Strict {
			return b
		}
		linesRejected.Inc(ctx, 1)
		return rejects.Write(ctx, b)
	})
	if err != nil {
		return err
	}
	rowsDone.Inc(ctx, counted%CountEvery)
	if err := g.flush(ctx); err != nil {
		return err
	}
	rejected, any, err := rejects.Commit()
	if any && err == nil {
		emitRejects(rejected)
	}
	return err
}

// gatherer holds the names of a part that are not written yet.
type gatherer struct {
	params              BuildParams
	part                triples.File
	most                int64 // bytes of each set
	entities, relations *set
	emit                func(string, externalsort.Run)
	written             int
}

// url is a file of the spill folder that no other part writes.
func (g *gatherer) url(of string) string {
	return storage.Join(g.params.Spill, fmt.Sprintf("%s-%s-%05d", of, g.part.Name(), g.written))
}

func (g *gatherer) add(ctx context.Context, t formattriples.Triple) error {
	g.entities.add(t.Head)
	g.entities.add(t.Tail)
	if g.part.Graph == triples.Training && g.part.Split == "train" {
		g.relations.add(t.Relation)
	}
	if g.entities.full(g.most) || g.relations.full(g.most) {
		return g.flush(ctx)
	}
	return nil
}

// flush writes a run of each kind of names.
func (g *gatherer) flush(ctx context.Context) error {
	file := kg.EntitiesFile
	if g.part.Graph == triples.Inference {
		file = kg.InferenceEntitiesFile
	}
	for _, of := range []struct {
		names *set
		file  string
	}{{g.entities, file}, {g.relations, kg.RelationsFile}} {
		if of.names.names == 0 {
			continue
		}
		run, err := of.names.write(ctx, g.url("names"))
		if err != nil {
			return err
		}
		g.written++
		g.emit(of.file, run)
	}
	return nil
}

// writeFn merges the names of a file.
type writeFn struct{ Params BuildParams }

// ProcessElement writes one file.
func (f *writeFn) ProcessElement(ctx context.Context, file string, parts func(*externalsort.Run) bool, emit func(Written)) error {
	plan, err := budget.Preprocess(0).Plan(f.Params.Memory, 0, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	leave, err := externalsort.Enter(plan.Threads)
	if err != nil {
		return err
	}
	defer leave()
	url := storage.Join(f.Params.Folder, file)
	w, err := tables.CreateNames(ctx, url, schemaOf(file))
	if err != nil {
		return err
	}
	defer w.Abort()
	sum, names := manifest.NewVocabulary(), int64(0)
	var all []externalsort.Run
	for run := (externalsort.Run{}); parts(&run); {
		all = append(all, run)
	}
	err = externalsort.MergeNames(ctx, all, storage.Join(f.Params.Spill, file), func(name []byte) error {
		sum.Add(name)
		names++
		return w.Write(name)
	})
	if err != nil {
		return err
	}
	if err := checkCount(file, url, names); err != nil {
		return err
	}
	if err := w.Commit(); err != nil {
		return err
	}
	emit(Written{File: file, URL: url, Version: sum.Hex(), Names: names})
	return nil
}

// schemaOf is the schema of a vocabulary file.
func schemaOf(file string) string {
	if file == kg.RelationsFile {
		return tables.Relations
	}
	return tables.Entities
}
