package encode

import (
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/storage/externalsort"
	"tagnet/formats/storage/lock"
	"tagnet/model/graph/kg"
	"tagnet/stages/worker"
)

// WriteParams are the parameters of Vocabulary and Write.
type WriteParams struct {
	// Folder is the URL of the folder that takes the files, Spill the URL of the folder for spill
	// files, which Write removes in the end.
	Folder, Spill string
	// Lock guards Folder; the zero Lock is never lost.
	Lock lock.Lock
	// Chunks are the chunks of all texts.
	Chunks []triples.Chunk
	// Rejects are lines that were rejected before, where files of other formats became texts.
	Rejects []triples.Rejects
	// Inductive says that there are facts of an inference graph, to which the test queries belong.
	Inductive bool
	// ValidOnInference says that the validation queries belong to it, too.
	ValidOnInference bool
	// Strict makes the first line that is not a fact, or whose relation is in no training fact, an error, a
	// triples.BadLine. Otherwise such lines are rejected; the entities of the latter stay in the vocabulary.
	Strict bool
	// Dataset and InferenceDataset are names for people; they go into the summary.
	Dataset, InferenceDataset string
	// EdgeShards is how many files take a graph's edges; at least 1.
	EdgeShards int
	// Memory is the memory budget of a worker process in bytes. It changes no byte of the files.
	Memory int64
	// BufferBytes limits the bytes that a thread sorts at a time; 0 is all that Memory leaves.
	BufferBytes int64
}

// spillOf returns the URL of a spill file that no other chunk writes.
func (p WriteParams) spillOf(chunk triples.Chunk, content string, number int) string {
	return storage.Join(p.Spill, fmt.Sprintf("%s-%s-%05d", content, chunk.Name(), number))
}

// onInference returns the splits whose queries are about the inference graph.
func (p WriteParams) onInference() []string {
	switch {
	case p.ValidOnInference:
		return kg.Splits[1:]
	case p.Inductive:
		return kg.Splits[2:]
	}
	return nil
}

// Task is a chunk of a text to encode. It is an element of pipelines.
type Task struct {
	Chunk triples.Chunk
	// Vocabulary are the vocabulary files.
	Vocabulary []Names
}

// TableInput is sorted rows of one table, or rejected lines, or neither: then it only makes sure that
// the table is written. It is an element of pipelines, keyed by the table's file.
type TableInput struct {
	// BaseRelations is the number of relations without inverses.
	BaseRelations int32
	// Spill has rows in the order of the table; its tag is the index of their split in kg.Splits.
	Spill externalsort.Spill
	// Rejects has lines of rejects.tsv.
	Rejects triples.Rejects
}

// TableCounts counts the rows of a table that was written. It is an element of pipelines.
type TableCounts struct {
	File string
	// Rows counts the rows written, Repeated those left out because they repeat another, Distinct
	// the pairs (source, relation) of queries or answers.
	Rows, Repeated, Distinct int64
	// KnownValid and KnownTest count answers of these splits that are also training facts.
	KnownValid, KnownTest int64
	// Degrees counts the entities that the edges of a table enter: all edges that enter one entity are in one table.
	Degrees Degrees
	// RejectedLines counts the lines of rejects.tsv.
	RejectedLines int64
}

// Write writes the tables of the graph/ folder, except the vocabulary. Input: triples.Rejects of lines
// that are not facts, and Names. Output: the URL of summary.json, the last file written.
//
// Its steps: (1) when the vocabulary is complete, each chunk becomes a task; (2) names become ids and
// facts become rows, which are sorted in memory and written to spill files; facts whose relation has
// no id are rejected; (3) the spill files of each table are merged; (4) the summary is written and the
// spill files are removed. Only URLs cross the barriers.
func Write(s beam.Scope, rejects, written beam.PCollection, p WriteParams) beam.PCollection {
	s = s.Scope("encode.Write")
	p.EdgeShards = max(1, p.EdgeShards)
	tasks := beam.ParDo(s, &taskFn{Chunks: p.Chunks}, beam.GroupByKey(s, beam.AddFixedKey(s, written)))
	if len(p.Rejects) > 0 {
		rejects = beam.Flatten(s, rejects, beam.CreateList(s, p.Rejects))
	}
	p.Chunks, p.Rejects = nil, nil // no other step needs all of them
	rows := beam.ParDo(s, &encodeFn{Params: p}, beam.Reshuffle(s, tasks))
	empty := beam.ParDo(s, emptyTableFn, beam.CreateList(s, kg.TableFiles(p.Inductive, p.EdgeShards)))
	rejected := beam.ParDo(s, rejectsFn, rejects)
	tables := beam.ParDo(s, &writeFn{Params: p}, beam.GroupByKey(s, beam.Flatten(s, rows, empty, rejected)))
	all := beam.CoGroupByKey(s, beam.AddFixedKey(s, tables), beam.AddFixedKey(s, written))
	return beam.ParDo(s, &summarizeFn{Params: p}, all)
}

func init() {
	beam.RegisterDoFn(emptyTableFn)
	beam.RegisterDoFn(rejectsFn)
	beam.RegisterDoFn(&taskFn{})
	beam.RegisterDoFn(&encodeFn{})
	beam.RegisterDoFn(&writeFn{})
	beam.RegisterDoFn(&summarizeFn{})
	beam.RegisterType(reflect.TypeOf((*Task)(nil)).Elem())
	beam.RegisterType(reflect.TypeOf((*TableInput)(nil)).Elem())
	beam.RegisterType(reflect.TypeOf((*TableCounts)(nil)).Elem())
}

// taskFn makes a task of each chunk when the vocabulary is complete.
type taskFn struct{ Chunks []triples.Chunk }

// ProcessElement receives all vocabulary files at once.
func (f *taskFn) ProcessElement(_ int, written func(*Names) bool, emit func(Task)) {
	all := worker.Drain(written)
	for _, chunk := range f.Chunks {
		emit(Task{Chunk: chunk, Vocabulary: all})
	}
}

// emptyTableFn makes sure that a table is written even if it has no rows.
func emptyTableFn(file string, emit func(string, TableInput)) { emit(file, TableInput{}) }

// rejectsFn adds rejected lines to rejects.tsv.
func rejectsFn(rejects triples.Rejects, emit func(string, TableInput)) {
	emit(kg.RejectsFile, TableInput{Rejects: rejects})
}
