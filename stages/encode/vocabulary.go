package encode

import (
	"context"
	"reflect"
	"runtime"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/storage/externalsort"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/budget"
	"tagnet/model/graph/kg"
	"tagnet/stages/worker"
)

// RowsCounter is the name of the counter of lines and rows that preprocessing has processed, in all
// of its steps.
const RowsCounter = "rows_done"

var (
	linesDone = worker.NewCounter("vocabulary", RowsCounter)
	linesBad  = worker.NewCounter("vocabulary", "lines_rejected")
)

// CountEvery is how many rows are counted at a time.
const CountEvery = 1 << 16

// divideMemory divides a memory budget in bytes for a number of names: it returns the number of threads, and how many
// bytes each may sort in, at most the limit unless that is 0. A step that only merges passes 0 names and no limit.
func divideMemory(memory, names, limit int64) (threads int, buffer int64, err error) {
	a, err := budget.Preprocess(names).Allot(memory, 0, runtime.GOMAXPROCS(0))
	if err != nil {
		return 0, 0, err
	}
	if buffer = a.Buffer(); limit > 0 {
		buffer = min(buffer, limit)
	}
	return a.Threads, buffer, nil
}

// Names describes a complete vocabulary file. It is an element of pipelines.
type Names struct {
	// File is its name, URL its location, Version the hash of its names.
	File, URL, Version string
	// Names is the number of names.
	Names int64
}

// Vocabulary writes the names of facts: the entities of each graph, from all of its splits, and the base
// relations, from the training and the background facts. Input: triples.Chunk. Output: Names, one for each file, and
// triples.Rejects, one for each chunk with bad lines.
//
// Each chunk's distinct names are sorted and written to spill files, whenever they fill the memory of
// a thread; then the spill files of each vocabulary file are merged.
func Vocabulary(s beam.Scope, chunks beam.PCollection, p WriteParams) (written, rejects beam.PCollection) {
	s = s.Scope("encode.Vocabulary")
	p.Chunks, p.Rejects = nil, nil // no step needs all of them
	names, rejects := beam.ParDo2(s, &namesFn{Params: p}, beam.Reshuffle(s, chunks))
	return beam.ParDo(s, &writeNamesFn{Params: p}, beam.GroupByKey(s, names)), rejects
}

func init() {
	beam.RegisterDoFn(&namesFn{})
	beam.RegisterDoFn(&writeNamesFn{})
	beam.RegisterType(reflect.TypeOf((*triples.Chunk)(nil)).Elem())
	beam.RegisterType(reflect.TypeOf((*triples.Rejects)(nil)).Elem())
	beam.RegisterType(reflect.TypeOf((*externalsort.Spill)(nil)).Elem())
	beam.RegisterType(reflect.TypeOf((*Names)(nil)).Elem())
}

// namesFn collects the distinct names of a chunk.
type namesFn struct {
	Params WriteParams

	chunks worker.Concurrent[collected]
}

// collected is what a chunk has become: spill files of names by vocabulary file, and the file of its bad
// lines, if it has any.
type collected struct {
	spills  []collectedSpill
	rejects []triples.Rejects
}

type collectedSpill struct {
	file  string
	spill externalsort.Spill
}

func (f *namesFn) ProcessElement(ctx context.Context, chunk triples.Chunk, _ func(string, externalsort.Spill), _ func(triples.Rejects)) error {
	threads, buffer, err := divideMemory(f.Params.Memory, 0, f.Params.BufferBytes)
	if err != nil {
		return err
	}
	return f.chunks.Go(ctx, threads, func(ctx context.Context) (collected, error) { return f.collect(ctx, chunk, buffer) })
}

func (f *namesFn) FinishBundle(_ context.Context, emit func(string, externalsort.Spill), emitRejects func(triples.Rejects)) error {
	return f.chunks.Finish(func(chunk collected) {
		for _, s := range chunk.spills {
			emit(s.file, s.spill)
		}
		for _, rejects := range chunk.rejects {
			emitRejects(rejects)
		}
	})
}

// collect reads a chunk with a buffer of some bytes.
func (f *namesFn) collect(ctx context.Context, chunk triples.Chunk, buffer int64) (collected, error) {
	ctx = f.Params.Lock.Guard(ctx)
	// Two sets of names fill half of the buffer each.
	c := collector{params: f.Params, chunk: chunk, setBytes: buffer / 2, entities: kg.NewNameSet(), relations: kg.NewNameSet()}
	rejects := triples.NewRejectsWriter(f.Params.spillOf(chunk, "rejects", 0), chunk)
	defer rejects.Abort()
	counted := int64(0)
	err := chunk.Read(ctx, func(_ int, t triples.Triple) error {
		if counted++; counted%CountEvery == 0 {
			linesDone.Inc(ctx, CountEvery)
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
		return c.add(ctx, t)
	}, func(b triples.BadLine) error {
		if f.Params.Strict {
			return triples.Refuse(b)
		}
		linesBad.Inc(ctx, 1)
		return rejects.Write(ctx, b)
	})
	if err != nil {
		return collected{}, err
	}
	linesDone.Inc(ctx, counted%CountEvery)
	// The last names, and the file of rejected lines if there are any.
	if err := c.flush(ctx); err != nil {
		return collected{}, err
	}
	rejected, any, err := rejects.Commit()
	if any && err == nil {
		c.collected.rejects = append(c.collected.rejects, rejected)
	}
	return c.collected, err
}

// collector holds the names of a chunk that are not written yet.
type collector struct {
	params              WriteParams
	chunk               triples.Chunk
	setBytes            int64 // limit of each set
	entities, relations *kg.NameSet
	written             int
	collected           collected
}

// add collects the names of a fact, and writes all names to spill files when a set is full.
func (c *collector) add(ctx context.Context, t triples.Triple) error {
	c.entities.Add(t.Head)
	c.entities.Add(t.Tail)
	if c.chunk.Graph == triples.Training && (c.chunk.Split == "train" || c.chunk.Split == triples.Background) {
		c.relations.Add(t.Relation)
	}
	if c.entities.Full(c.setBytes) || c.relations.Full(c.setBytes) {
		return c.flush(ctx)
	}
	return nil
}

// flush writes a spill file of each set.
func (c *collector) flush(ctx context.Context) error {
	entities := kg.EntitiesFile
	if c.chunk.Graph == triples.Inference {
		entities = kg.InferenceEntitiesFile
	}
	for _, s := range []struct {
		set  *kg.NameSet
		file string
	}{{c.entities, entities}, {c.relations, kg.RelationsFile}} {
		if s.set.Len() == 0 {
			continue
		}
		spill, err := s.set.Write(ctx, c.params.spillOf(c.chunk, "names", c.written))
		if err != nil {
			return err
		}
		c.written++
		c.collected.spills = append(c.collected.spills, collectedSpill{s.file, spill})
	}
	return nil
}

// writeNamesFn merges the names of a vocabulary file.
type writeNamesFn struct {
	Params WriteParams

	files worker.Concurrent[Names]
}

func (f *writeNamesFn) ProcessElement(ctx context.Context, file string, spills func(*externalsort.Spill) bool, _ func(Names)) error {
	threads, _, err := divideMemory(f.Params.Memory, 0, 0)
	if err != nil {
		return err
	}
	all := worker.Drain(spills)
	return f.files.Go(ctx, threads, func(ctx context.Context) (Names, error) { return f.write(f.Params.Lock.Guard(ctx), file, all) })
}

func (f *writeNamesFn) FinishBundle(_ context.Context, emit func(Names)) error {
	return f.files.Finish(emit)
}

// write merges spill files into a vocabulary file.
func (f *writeNamesFn) write(ctx context.Context, file string, spills []externalsort.Spill) (Names, error) {
	url := storage.Join(f.Params.Folder, file)
	w, err := tables.CreateNames(ctx, url, schemaOf(file))
	if err != nil {
		return Names{}, err
	}
	defer w.Abort()
	// The ids of names are their positions in this order.
	sum, names := manifest.NewVocabulary(), int64(0)
	err = externalsort.Merge(ctx, externalsort.Names, spills, storage.Join(f.Params.Spill, file), func(name []byte, _ int) error {
		sum.Add(name)
		names++
		return w.Write(name)
	})
	if err != nil {
		return Names{}, err
	}
	if err := kg.CheckNames(schemaOf(file), url, names); err != nil {
		return Names{}, err
	}
	return Names{File: file, URL: url, Version: sum.Hex(), Names: names}, w.Commit()
}

// cached is the kind of the ids in the process's cache.
const cached = "vocabulary"

// loadIDs returns the ids of a vocabulary file. It reads each file once per process.
func loadIDs(ctx context.Context, w Names) (*kg.IDs, error) {
	return worker.Load(worker.Key{Kind: cached, URL: w.URL}, w.Version, func() (*kg.IDs, error) {
		return kg.ReadIDs(ctx, w.URL, schemaOf(w.File), w.Names, w.Version)
	})
}

// ForgetIDs drops the ids that loadIDs has read.
func ForgetIDs() { worker.Forget(cached) }

func schemaOf(file string) string {
	if file == kg.RelationsFile {
		return tables.Relations
	}
	return tables.Entities
}
