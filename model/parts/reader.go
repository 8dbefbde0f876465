package parts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"sync"

	"tagnet/formats/manifest"
	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/internal/buffer"
	"tagnet/model/subgraph"
)

// Want says what the parts of a folder must have been found for.
type Want struct {
	Split         string
	Reach, Layers int
	// Remove is that of the configuration, for the training split.
	Remove string
	// Graph is the checksum of the manifest of the graph's folder.
	Graph string
}

// Folder is an open folder of parts. It may be used concurrently.
type Folder struct {
	Header Header
	url    string
	ctx    context.Context // of Open
	mu     sync.Mutex
	files  []*tables.PartsReader // nil until they are needed
}

// Open opens a folder of parts. It is an error, with a remedy, if the folder is not complete, or has parts for something else. The
// context must live until Close.
func Open(ctx context.Context, url string, w Want) (*Folder, error) {
	again := fmt.Sprintf("run bundle --split %s --reach %d --layers %d", w.Split, w.Reach, w.Layers)
	m, err := manifest.Read(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, remedy.Errorf(again, "%s has no complete parts of the graph: %w", url, err)
	}
	if err != nil {
		return nil, remedy.Errorf(again+" --force", "%w", err)
	}
	f := &Folder{url: url, ctx: ctx}
	if err := f.readHeader(ctx, m); err != nil {
		return nil, remedy.Errorf(again+" --force", "%w", err)
	}
	if err := f.Header.fits(w); err != nil {
		return nil, remedy.Errorf(again+" --force", "%s: %w", url, err)
	}
	f.files = make([]*tables.PartsReader, len(f.Header.Firsts))
	for i := range f.files {
		if name := File(i, len(f.files)); !slices.ContainsFunc(m.Files, func(f manifest.File) bool { return f.Name == name }) {
			return nil, remedy.Errorf(again+" --force", "%s: the manifest does not list %s", url, name)
		}
	}
	return f, nil
}

// readHeader reads the header, which must be the one that the manifest lists.
func (f *Folder) readHeader(ctx context.Context, m manifest.Manifest) (err error) {
	url := storage.Join(f.url, headerFile)
	if f.Header, err = storage.ReadJSON[Header](ctx, url); err != nil {
		return err
	}
	got, err := manifest.HashFile(ctx, url)
	if err == nil && !slices.Contains(m.Files, got) {
		err = fmt.Errorf("%s: %w", url, manifest.ErrDamaged)
	}
	return err
}

// fits returns an error unless the parts were found for what is wanted.
func (h Header) fits(w Want) error {
	remove := configuration.RemoveNone
	if w.Split == Train {
		remove = w.Remove
	}
	switch {
	case h.Graph != w.Graph:
		return errors.New("the parts are those of another graph")
	case h.Split != w.Split:
		return fmt.Errorf("the parts are for queries of the split %s, not %s", h.Split, w.Split)
	case h.Reach != w.Reach || h.Layers != w.Layers:
		return fmt.Errorf("the parts have at most %d entities within %d hops, not %d within %d", h.Reach, h.Layers, w.Reach, w.Layers)
	case h.Remove != remove:
		return fmt.Errorf("the parts are for queries whose graph is without %q, not %q", h.Remove, remove)
	}
	return nil
}

// Close closes the files.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for i, file := range f.files {
		if file != nil {
			errs = append(errs, file.Close())
			f.files[i] = nil
		}
	}
	return errors.Join(errs...)
}

// file returns a file, which it opens if it is not open.
func (f *Folder) file(i int) (*tables.PartsReader, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.files[i] != nil {
		return f.files[i], nil
	}
	url := storage.Join(f.url, File(i, len(f.files)))
	file, err := tables.OpenParts(f.ctx, url, f.Header.sizes())
	if err != nil {
		return nil, err
	}
	if file.Batches() == 0 || file.First(0) != f.Header.Firsts[i] {
		file.Close()
		return nil, remedy.Errorf("run bundle --force", "%s does not begin with query %d, as %s says", url, f.Header.Firsts[i], headerFile)
	}
	f.files[i] = file
	return file, nil
}

// Part is a part of the graph, found without its query's fact if it is for training, and its queries.
type Part struct {
	subgraph.Subgraph
	Queries []Query
}

// Reader finds parts by the numbers of their queries. It keeps the batch of the last one, so that parts are read once if they are found
// in their order. It is not for concurrent use.
type Reader struct {
	folder      *Folder
	file, batch int
	rows        []tables.Part
}

// Reader returns a reader of the folder.
func (f *Folder) Reader() *Reader { return &Reader{folder: f, file: -1} }

// ErrAbsent is wrapped by the error of a query that no part has.
var ErrAbsent = errors.New("the folder has no part for it")

// Find sets into to the part of a query. Its arrays are reused, except for those of known answers, which stay valid.
func (r *Reader) Find(number int64, into *Part) error {
	row, err := r.row(number)
	if err != nil {
		return fmt.Errorf("finding the part of query %d of %s: %w", number, r.folder.url, err)
	}
	h := &r.folder.Header
	into.Entities, into.Degrees = append(into.Entities[:0], row.Entities...), append(into.Degrees[:0], row.Degrees...)
	into.Senders, into.Relations = append(into.Senders[:0], row.Senders...), append(into.Relations[:0], row.Relations...)
	into.Offsets = append(buffer.Resize(into.Offsets, len(row.Counts))[:0], 0)
	for i, count := range row.Counts {
		into.Offsets = append(into.Offsets, into.Offsets[i]+int64(count))
	}
	into.Source, into.Removal = into.Local(row.Source), graph.Removal{}
	into.Queries = queriesOf(row, into.Queries[:0])
	if h.HasRemovals() {
		q := into.Queries[0]
		if answer := into.Local(q.Answer); answer >= 0 {
			into.Removal = graph.Removal{
				Active: true, OneHop: h.Remove == configuration.RemoveOneHop, Source: into.Source, Answer: answer,
				Relation: q.Relation, Inverse: (&graph.Graph{BaseRelations: h.BaseRelations}).Inverse(q.Relation),
			}
		}
	}
	return nil
}

// row returns the row of the part that has a query.
func (r *Reader) row(number int64) (*tables.Part, error) {
	file := sort.Search(len(r.folder.files), func(i int) bool { return r.folder.Header.Firsts[i] > number }) - 1
	if file < 0 {
		return nil, ErrAbsent
	}
	open, err := r.folder.file(file)
	if err != nil {
		return nil, err
	}
	if batch := open.Find(number); file != r.file || batch != r.batch {
		r.file = -1
		if r.rows, err = open.Batch(batch); err != nil {
			return nil, err
		}
		r.file, r.batch = file, batch
	}
	at := sort.Search(len(r.rows), func(i int) bool { return r.rows[i].Numbers[0] > number }) - 1
	if at < 0 || !slices.Contains(r.rows[at].Numbers, number) {
		return nil, ErrAbsent
	}
	return &r.rows[at], nil
}

// queriesOf appends the queries of a row.
func queriesOf(row *tables.Part, to []Query) []Query {
	known := row.Known
	run := 0
	var of []int32
	for i, number := range row.Numbers {
		if i == 0 || row.Asked[i] != row.Asked[i-1] {
			n := row.KnownCounts[run]
			of, known, run = known[:n:n], known[n:], run+1
		}
		to = append(to, Query{Number: number, Relation: row.Asked[i], Answer: row.Answers[i], Known: of})
	}
	return to
}
