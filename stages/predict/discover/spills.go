package discover

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/storage/externalsort"
	"tagnet/formats/storage/lock"
	"tagnet/model/answer/discovery"
)

func init() {
	beam.RegisterDoFn(&indexFn{})
	beam.RegisterType(reflect.TypeFor[Section]())
}

// Ranges is the number of ranges of entities: as many tasks merge, or ask backward, at the same time at most.
const Ranges = 64

// rangeOf returns the range of an entity. Neighbors are in different ones: entities of a type often follow each other.
func rangeOf(entity int32) int { return int(entity) % Ranges }

// Kinds of records.
const (
	factRecords   = iota // by head
	answerRecords        // of queries, by source
)

// Section is a part of a spill file with the records of a kind and a range or, with no records, a count of queries for
// the index. It is an element of pipelines.
type Section struct {
	Kind, Range int
	Spill       externalsort.Spill
	// Queries is the number of queries that were ranked, of a section without records.
	Queries int64
}

// Index lists the spill files.
type Index struct {
	// Sections are ordered by kind, range and file.
	Sections []Section `json:"sections"`
	// Queries is the number of queries that were ranked.
	Queries int64 `json:"queries"`
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

// SpillFolder says where spill files are.
type SpillFolder struct {
	// Folder is the URL of their folder. Required.
	Folder string
	// Lock guards the folder above; the zero Lock is never lost.
	Lock lock.Lock
}

// indexURL returns the URL of the index of files whose names begin with a name.
func (p SpillFolder) indexURL(name string) string { return storage.Join(p.Folder, name+".json") }

// Index reads the index of files whose names begin with a name.
func (p SpillFolder) Index(ctx context.Context, name string) (Index, error) {
	return storage.ReadJSON[Index](ctx, p.indexURL(name))
}

// ofRange returns the spill files of a kind and a range, of all indexes.
func (p SpillFolder) ofRange(ctx context.Context, names []string, kind, entityRange int) (spills []externalsort.Spill, err error) {
	for _, name := range names {
		index, err := p.Index(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, s := range index.Sections {
			if s.Kind == kind && s.Range == entityRange {
				spills = append(spills, s.Spill)
			}
		}
	}
	return spills, nil
}

// CountWanted returns the number of wanted records in some indexes: a candidate has one for the other query of its
// fact, which must rank it, too.
func (p SpillFolder) CountWanted(ctx context.Context, names []string) (records int64, err error) {
	for _, name := range names {
		index, err := p.Index(ctx, name)
		if err != nil {
			return 0, err
		}
		for _, s := range index.Sections {
			if s.Kind == answerRecords && s.Spill.Tag == discovery.IsWanted {
				records += s.Spill.Records
			}
		}
	}
	return records, nil
}

// writeFacts writes candidates as facts to a spill file with a name, and emits its sections.
func (p SpillFolder) writeFacts(ctx context.Context, name string, candidates []discovery.Candidate, emit func(Section)) error {
	rows := make([]externalsort.FactRow, len(candidates))
	for i := range candidates {
		rows[i] = candidates[i].Row()
	}
	slices.SortFunc(rows, func(a, b externalsort.FactRow) int {
		return cmp.Or(cmp.Compare(rangeOf(a[0]), rangeOf(b[0])), a.Compare(b))
	})
	w, err := externalsort.Create(ctx, storage.Join(p.Folder, name), externalsort.FactRows)
	if err != nil {
		return err
	}
	return cut(w, [][]externalsort.FactRow{rows}, func(r externalsort.FactRow) int32 { return r[0] }, factRecords, emit)
}

// writeAnswers writes candidates as answers to a spill file with a name: as listed ones of the queries that ranked
// them, and as wanted ones of the other queries of their facts.
func (p SpillFolder) writeAnswers(ctx context.Context, name string, candidates []discovery.Candidate, baseRelations int32, emit func(Section)) error {
	rows := [][]externalsort.Row{discovery.IsListed: nil, discovery.IsWanted: nil}
	for i := range candidates {
		listing, other := candidates[i].Queries(baseRelations)
		rows[discovery.IsListed] = append(rows[discovery.IsListed], listing)
		rows[discovery.IsWanted] = append(rows[discovery.IsWanted], other)
	}
	for _, tagged := range rows {
		slices.SortFunc(tagged, func(a, b externalsort.Row) int {
			return cmp.Or(cmp.Compare(rangeOf(a[0]), rangeOf(b[0])), a.Compare(b))
		})
	}
	w, err := externalsort.Create(ctx, storage.Join(p.Folder, name), externalsort.Rows)
	if err != nil {
		return err
	}
	return cut(w, rows, func(r externalsort.Row) int32 { return r[0] }, answerRecords, emit)
}

// cut writes records, by tag and in order, as sections by ranges of an entity.
func cut[T any](w *externalsort.Writer[T], records [][]T, entity func(T) int32, kind int, emit func(Section)) error {
	defer w.Abort()
	var sections []Section
	for tag, tagged := range records {
		for i, r := range tagged {
			if err := w.Write(r); err != nil {
				return err
			}
			entityRange := rangeOf(entity(r))
			if i+1 < len(tagged) && rangeOf(entity(tagged[i+1])) == entityRange {
				continue
			}
			s := Section{Kind: kind, Range: entityRange, Spill: w.Cut()}
			s.Spill.Tag = tag
			sections = append(sections, s)
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

// index writes the index of sections when all of them are written. Output: its URL.
func index(s beam.Scope, p SpillFolder, name string, sections beam.PCollection) beam.PCollection {
	return beam.ParDo(s, &indexFn{Spills: p, Name: name}, beam.GroupByKey(s, beam.AddFixedKey(s, sections)))
}

type indexFn struct {
	Spills SpillFolder
	Name   string
}

func (f *indexFn) ProcessElement(ctx context.Context, _ int, sections func(*Section) bool, emit func(string)) error {
	var all Index
	var s Section
	for sections(&s) {
		all.Queries += s.Queries
		if s.Spill.Records > 0 {
			all.Sections = append(all.Sections, s)
		}
	}
	slices.SortFunc(all.Sections, func(a, b Section) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Range, b.Range), cmp.Compare(a.Spill.URL, b.Spill.URL),
			cmp.Compare(a.Spill.Offset, b.Spill.Offset))
	})
	url := f.Spills.indexURL(f.Name)
	if err := storage.WriteJSON(f.Spills.Lock.Guard(ctx), url, all); err != nil {
		return err
	}
	emit(url)
	return nil
}
