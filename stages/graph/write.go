package graph

import (
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/externalsort"
	"tagnet/model/kg"
	"tagnet/stages/triples"
	"tagnet/stages/vocabulary"
)

// WriteParams says how the tables are written.
type WriteParams struct {
	// Folder is the URL of the folder that takes the files; Spill that of a folder for what is
	// removed when the tables are there.
	Folder, Spill string
	// Parts are the parts of all texts.
	Parts []triples.File
	// Inductive says that there are facts of an inference graph, which test asks.
	Inductive bool
	// Strict makes a line whose relation is in no training fact an error. Otherwise such lines are
	// rejected and reading goes on; the entities that they name are in the vocabulary all the same.
	Strict bool
	// Dataset and InferenceDataset are names for people; they go into the summary.
	Dataset, InferenceDataset string
	// EdgeShards is how many files take a graph's edges; at least 1.
	EdgeShards int
	// Memory is the bytes that a worker process may take; it changes no byte of what is written.
	Memory int64
	// BufferBytes bounds the bytes of what a thread sorts; 0 is all that Memory leaves.
	BufferBytes int64
}

// Task is a part of a text that is to be encoded, and an element before that.
type Task struct {
	Part triples.File
	// Vocabulary has the files of ids.
	Vocabulary []vocabulary.Written
}

// Part is a run of rows for one table, or a file of rejected lines, and an element between
// encoding and writing. Without either it only says that there is the table.
type Part struct {
	// BaseRelations is how many relations there are: the others are reciprocals.
	BaseRelations int32
	// Run has rows as the table's writer wants them; its tag is the number of their split.
	Run externalsort.Run
	// Rejects has lines of rejects.tsv.
	Rejects triples.Rejects
}

// Done is a table that is written, with its counts.
type Done struct {
	File string
	// Rows are those written, Repeated those left out because they stood there already,
	// Distinct the pairs of source and relation among queries or answers.
	Rows, Repeated, Distinct int64
	// KnownValid and KnownTest count answers of these splits that are training facts already.
	KnownValid, KnownTest int64
	// RejectedLines are the lines of rejects.tsv.
	RejectedLines int64
}

// Write makes the tables of the graph/ folder but for the vocabulary, whose files are part of
// the input. Input: triples.Rejects of the lines that are no facts, and vocabulary.Written. Output:
// the URL of summary.json, the last file written.
//
// Its steps: (1) the parts of texts are handed out with the vocabulary's URIs, when all of it is
// there; (2) names become ids, facts become rows of tables, and as many as a thread's memory
// holds are sorted and written as a run, but for facts of relations without an id, which are
// rejected; (3) the runs of each table are merged into it; (4) the summary is written, and the runs
// are removed. Only URIs cross the barriers.
func Write(s beam.Scope, rejects, written beam.PCollection, p WriteParams) beam.PCollection {
	s = s.Scope("graph.Write")
	p.EdgeShards = max(1, p.EdgeShards)
	tasks := beam.ParDo(s, &handOutFn{Parts: p.Parts}, beam.GroupByKey(s, beam.AddFixedKey(s, written)))
	p.Parts = nil // no step needs all of them
	rows := beam.ParDo(s, &encodeFn{Params: p}, beam.Reshuffle(s, tasks))
	empty := beam.ParDo(s, emptyPartFn, beam.CreateList(s, files(p.Inductive, p.EdgeShards)))
	rejected := beam.ParDo(s, rejectsPartFn, rejects)
	tables := beam.ParDo(s, &writeFn{Params: p}, beam.GroupByKey(s, beam.Flatten(s, rows, empty, rejected)))
	all := beam.CoGroupByKey(s, beam.AddFixedKey(s, tables), beam.AddFixedKey(s, written))
	return beam.ParDo(s, &summarizeFn{Params: p}, all)
}

func init() {
	beam.RegisterDoFn(emptyPartFn)
	beam.RegisterDoFn(rejectsPartFn)
	beam.RegisterDoFn(&handOutFn{})
	beam.RegisterDoFn(&encodeFn{})
	beam.RegisterDoFn(&writeFn{})
	beam.RegisterDoFn(&summarizeFn{})
	beam.RegisterType(reflect.TypeOf((*Task)(nil)).Elem())
	beam.RegisterType(reflect.TypeOf((*Part)(nil)).Elem())
	beam.RegisterType(reflect.TypeOf((*Done)(nil)).Elem())
}

// handOutFn makes a task of each part when the vocabulary is there.
type handOutFn struct{ Parts []triples.File }

// ProcessElement gets all files of the vocabulary at once.
func (f *handOutFn) ProcessElement(_ int, written func(*vocabulary.Written) bool, emit func(Task)) {
	var all []vocabulary.Written
	for w := (vocabulary.Written{}); written(&w); {
		all = append(all, w)
	}
	for _, part := range f.Parts {
		emit(Task{Part: part, Vocabulary: all})
	}
}

// emptyPartFn makes sure that a table is written even if it has no row.
func emptyPartFn(file string, emit func(string, Part)) { emit(file, Part{}) }

// rejectsPartFn sends rejected lines to their table.
func rejectsPartFn(rejects triples.Rejects, emit func(string, Part)) {
	emit(kg.RejectsFile, Part{Rejects: rejects})
}
