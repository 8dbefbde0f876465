package discover

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/externalsort"
	"tagnet/formats/lock"
	"tagnet/formats/storage"
	"tagnet/model/answer"
	"tagnet/model/discovery"
	modelgraph "tagnet/model/graph"
	"tagnet/model/kg"
	"tagnet/model/workload"
	"tagnet/stages/graph"
	"tagnet/stages/score"
	"tagnet/stages/worker"
)

func init() {
	beam.RegisterDoFn(&candidatesFn{})
	beam.RegisterDoFn(&indexFn{})
	beam.RegisterType(reflect.TypeFor[Section]())
}

// Ranges is the number of ranges of heads: as many tasks merge at the same time at most.
const Ranges = 16

// Params are the parameters of Candidates.
type Params struct {
	// Queries asks for tails, for heads, or for both. Its known answers are listed beside the best new ones.
	Queries workload.Params
	// Model scores them.
	Model score.Params
	// Folder is the URL of the folder of the spill files, Name begins their names and that of their index. Required.
	Folder, Name string
	// Lock is that of the folder; the zero Lock is never lost.
	Lock lock.Lock
	// Unreached is that of discovery.Listing.
	Unreached bool
}

// Section is a part of a spill file with the facts of a range of heads. It is an element of pipelines.
type Section struct {
	Range int
	Spill externalsort.Spill
}

// Index lists the spill files.
type Index struct {
	// Sections are ordered by range and file.
	Sections []Section `json:"sections"`
}

// Check returns an error for an index that this program never writes.
func (i Index) Check() error {
	for _, s := range i.Sections {
		if s.Range < 0 || s.Range >= Ranges || s.Spill.Records <= 0 {
			return fmt.Errorf("a section of range %d with %d records", s.Range, s.Spill.Records)
		}
	}
	return nil
}

// IndexURL returns the URL of the index of some candidates.
func IndexURL(folder, name string) string { return storage.Join(folder, name+".json") }

// readIndexes returns the spill files of a range, of all indexes, and the number of candidates of all ranges.
func readIndexes(ctx context.Context, urls []string, number int) (spills []externalsort.Spill, candidates int64, err error) {
	for _, url := range urls {
		index, err := storage.ReadJSON[Index](ctx, url)
		if err != nil {
			return nil, 0, err
		}
		for _, s := range index.Sections {
			candidates += s.Spill.Records
			if s.Range == number {
				spills = append(spills, s.Spill)
			}
		}
	}
	return spills, candidates, nil
}

// Candidates scores queries and writes the listed answers as candidates. Output: the URL of the index.
func Candidates(s beam.Scope, p Params) beam.PCollection {
	s = s.Scope("discover.Candidates")
	sections := beam.ParDo(s, &candidatesFn{Params: p}, score.Shards(s, p.Queries))
	return beam.ParDo(s, &indexFn{Params: p}, beam.GroupByKey(s, beam.AddFixedKey(s, sections)))
}

type candidatesFn struct{ Params Params }

// ProcessElement scores a shard and writes its candidates.
func (f *candidatesFn) ProcessElement(ctx context.Context, shard score.Shard, emit func(Section)) error {
	return shard.Score(ctx, f.Params.Model, f.Params.Queries, func(ctx context.Context, scored *answer.Scored) error {
		return f.write(f.Params.Lock.Guard(ctx), shard, scored, emit)
	})
}

func (f *candidatesFn) write(ctx context.Context, shard score.Shard, scored *answer.Scored, emit func(Section)) error {
	loaded, err := graph.Load(ctx, f.Params.Queries.Graph, f.Params.Queries.Without...)
	if err != nil {
		return err
	}
	held, err := heldOf(ctx, loaded, f.Params.Queries.Split)
	if err != nil {
		return err
	}
	listing := discovery.Listing{BaseRelations: int32(len(loaded.Relations)), Held: held, Unreached: f.Params.Unreached}
	var rows []externalsort.Wide
	var buffer []discovery.Candidate
	for i := range scored.Queries {
		buffer = listing.Candidates(buffer[:0], &scored.Queries[i])
		for _, c := range buffer {
			rows = append(rows, c.Row())
		}
	}
	slices.SortFunc(rows, externalsort.Wide.Compare)
	url := storage.Join(f.Params.Folder, fmt.Sprintf("%s-%05d-of-%05d", f.Params.Name, shard.Number, shard.Of))
	return writeSections(ctx, url, rows, loaded.Of(f.Params.Queries.Split).Graph.Entities, emit)
}

// writeSections writes sorted rows to a spill file, cut by ranges of heads. Without rows it writes none.
func writeSections(ctx context.Context, url string, rows []externalsort.Wide, entities int, emit func(Section)) error {
	if len(rows) == 0 {
		emit(Section{}) // so that there is an index even without candidates
		return nil
	}
	w, err := externalsort.CreateWide(ctx, url)
	if err != nil {
		return err
	}
	defer w.Abort()
	var sections []Section
	number := func(r externalsort.Wide) int { return int(int64(r[0]) * Ranges / int64(entities)) }
	for i, r := range rows {
		if err := w.Write(r); err != nil {
			return err
		}
		if i+1 == len(rows) || number(rows[i+1]) != number(r) {
			sections = append(sections, Section{number(r), w.Cut()})
		}
	}
	if err := w.Commit(); err != nil {
		return err
	}
	for _, s := range sections {
		emit(s)
	}
	return nil
}

// testFacts are the facts of the test split.
type testFacts map[modelgraph.Fact]bool

// heldOf returns to which split a known answer belongs that is no fact of the graph. Known answers of a graph are its facts
// and those of the splits that are held out of it.
func heldOf(ctx context.Context, loaded *kg.KG, split string) (func(f modelgraph.Fact) (discovery.Held, bool), error) {
	view := loaded.Of(split)
	tested := testFacts{}
	if view == loaded.Inference {
		var err error
		key := worker.Key{Kind: "test facts", URL: loaded.Manifest.Checksum}
		tested, err = worker.Load(key, loaded.Manifest.Checksum, func() (testFacts, error) { return readTest(ctx, loaded) })
		if err != nil {
			return nil, err
		}
	}
	return func(f modelgraph.Fact) (discovery.Held, bool) {
		switch {
		case view.Graph.Has(f.Head, f.Relation, f.Tail):
			return 0, false
		case tested[f]:
			return discovery.Test, true
		}
		return discovery.Valid, true
	}, nil
}

func readTest(ctx context.Context, loaded *kg.KG) (testFacts, error) {
	queries, err := loaded.Queries(ctx, "test")
	if err != nil {
		return nil, err
	}
	facts := testFacts{}
	for _, q := range queries {
		if int(q.Relation) < len(loaded.Relations) {
			facts[modelgraph.Fact{Head: q.Source, Relation: q.Relation, Tail: q.Answer}] = true
		}
	}
	return facts, nil
}

type indexFn struct{ Params Params }

// ProcessElement writes the index when all spill files are written.
func (f *indexFn) ProcessElement(ctx context.Context, _ int, sections func(*Section) bool, emit func(string)) error {
	var index Index
	var s Section
	for sections(&s) {
		if s.Spill.Records > 0 {
			index.Sections = append(index.Sections, s)
		}
	}
	slices.SortFunc(index.Sections, func(a, b Section) int {
		return cmp.Or(cmp.Compare(a.Range, b.Range), cmp.Compare(a.Spill.URL, b.Spill.URL))
	})
	url := IndexURL(f.Params.Folder, f.Params.Name)
	if err := storage.WriteJSON(f.Params.Lock.Guard(ctx), url, index); err != nil {
		return err
	}
	emit(url)
	return nil
}
