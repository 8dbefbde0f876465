package graph

import (
	"context"
	"hash/fnv"
	"reflect"
	"strconv"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"tagnet/stages/triples"
	"tagnet/stages/vocabulary"
)

// WriteParams says how the tables are written.
type WriteParams struct {
	// Folder is the URL of the folder that takes the files.
	Folder string
	// Inductive says that there are facts of an inference graph, which test asks.
	Inductive bool
	// Dataset and InferenceDataset are names for people; they go into the summary.
	Dataset, InferenceDataset string
	// EdgeShards is how many files take a graph's edges; at least 1. A worker holds one in
	// memory, 12 bytes an edge.
	EdgeShards int
	// Shards is how many groups of batches are turned into ids in parallel; 0 is 8. It
	// changes no byte of what is written.
	Shards int
}

// Part is a run of rows for one table, and an element between encoding and writing.
type Part struct {
	// Split is the one that the rows are of: train, valid or test.
	Split string
	// Rows is a batch as the table's Encode function in formats/tables makes it.
	Rows []byte
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
// the input. Input: batches of facts and of rejected lines as triples.Read makes them, and
// vocabulary.Written. Output: the URL of summary.json, the last file written.
//
// Its steps: (1) batches are grouped and meet the vocabulary's URIs, so that none is read
// before it is whole; (2) names become ids, facts become rows of tables; (3) each table
// gathers its rows, sorts them and is written; (4) the summary is written.
func Write(s beam.Scope, facts, rejects, written beam.PCollection, p WriteParams) beam.PCollection {
	s = s.Scope("graph.Write")
	if p.Shards == 0 {
		p.Shards = 8
	}
	p.EdgeShards = max(1, p.EdgeShards)
	grouped := beam.CoGroupByKey(s,
		beam.ParDo(s, &groupFn{Shards: p.Shards}, facts),
		beam.ParDo(s, &everyGroupFn{Shards: p.Shards}, written))
	rows := beam.ParDo(s, &encodeFn{Inductive: p.Inductive, EdgeShards: p.EdgeShards}, grouped)
	empty := beam.ParDo(s, emptyPartFn, beam.CreateList(s, files(p.Inductive, p.EdgeShards)))
	rejected := beam.ParDo(s, rejectsPartFn, rejects)
	tables := beam.ParDo(s, &writeFn{Folder: p.Folder}, beam.GroupByKey(s, beam.Flatten(s, rows, empty, rejected)))
	all := beam.CoGroupByKey(s, beam.AddFixedKey(s, tables), beam.AddFixedKey(s, written))
	return beam.ParDo(s, &summarizeFn{Folder: p.Folder, Dataset: p.Dataset, InferenceDataset: p.InferenceDataset}, all)
}

func init() {
	register.Function2x0[string, func(string, Part)](emptyPartFn)
	register.Function2x0[[]byte, func(string, Part)](rejectsPartFn)
	register.DoFn2x1[[]byte, func(int, []byte), error](&groupFn{})
	register.DoFn2x0[vocabulary.Written, func(int, vocabulary.Written)](&everyGroupFn{})
	register.DoFn5x1[context.Context, int, func(*[]byte) bool, func(*vocabulary.Written) bool, func(string, Part), error](&encodeFn{})
	register.DoFn4x1[context.Context, string, func(*Part) bool, func(Done), error](&writeFn{})
	register.DoFn5x1[context.Context, int, func(*Done) bool, func(*vocabulary.Written) bool, func(string), error](&summarizeFn{})
	register.Emitter2[int, []byte]()
	register.Emitter2[int, vocabulary.Written]()
	register.Emitter2[string, Part]()
	register.Emitter1[Done]()
	register.Emitter1[string]()
	register.Iter1[[]byte]()
	register.Iter1[Part]()
	register.Iter1[Done]()
	register.Iter1[vocabulary.Written]()
	beam.RegisterType(reflect.TypeOf((*Part)(nil)).Elem())
	beam.RegisterType(reflect.TypeOf((*Done)(nil)).Elem())
}

// groupFn spreads batches over groups by what they are, not by when they come.
type groupFn struct{ Shards int }

// ProcessElement keys a batch of facts.
func (f *groupFn) ProcessElement(element []byte, emit func(int, []byte)) error {
	var b triples.Batch
	if err := b.Decode(element); err != nil {
		return err
	}
	h := fnv.New32a()
	h.Write([]byte(b.URL + "\x00" + strconv.Itoa(b.Number)))
	emit(int(h.Sum32()%uint32(f.Shards)), element)
	return nil
}

// everyGroupFn sends the URI of a vocabulary file to every group.
type everyGroupFn struct{ Shards int }

// ProcessElement keys a vocabulary file.
func (f *everyGroupFn) ProcessElement(w vocabulary.Written, emit func(int, vocabulary.Written)) {
	for shard := range f.Shards {
		emit(shard, w)
	}
}

// emptyPartFn makes sure that a table is written even if it has no row.
func emptyPartFn(file string, emit func(string, Part)) { emit(file, Part{}) }

// rejectsPartFn sends rejected lines to their table.
func rejectsPartFn(element []byte, emit func(string, Part)) { emit(RejectsFile, Part{Rows: element}) }
