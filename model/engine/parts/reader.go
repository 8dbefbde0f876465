package parts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"sync"

	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// Requirements are the split, the reach and the graph that the parts of a folder must have been found for.
type Requirements struct {
	Split         string
	Reach, Layers int
	// Remove is the configuration's Remove, for the training split.
	Remove string
	// Limit is the number of queries, spread evenly over the split, that are read; 0 for all. A folder may have more.
	Limit int64
	// Drawn describes the queries that a training draws, unless it draws all: an error names the command for them.
	Drawn Drawn
	// Graph is the checksum of the manifest of the graph's folder.
	Graph string
}

// RequiredFolder is a folder of parts, with what they must have been found for. The zero value stands for no parts: the
// whole graph is in memory.
type RequiredFolder struct {
	URL          string
	Requirements Requirements
}

// Open opens the folder.
func (p RequiredFolder) Open(ctx context.Context) (*Folder, error) {
	return Open(ctx, p.URL, p.Requirements)
}

// Folder is an open folder of parts. It may be used concurrently.
type Folder struct {
	Header Header
	url    string
	ctx    context.Context // of Open
	files  int

	mu        sync.Mutex
	openFiles map[int]*file
	clock     int64
}

// mostOpen is the most files that stay open without a reader.
const mostOpen = 256

type file struct {
	*tables.PartsReader
	once    sync.Once
	err     error // of opening it
	readers int
	used    int64
}

// Open opens a folder of parts. It is an error, with a remedy, if the folder is not complete, or has parts for
// something else. The context must live until Close.
func Open(ctx context.Context, url string, w Requirements) (*Folder, error) {
	again := finding(w.Split, w.Reach, w.Layers)
	if w.Split == Train && w.Remove != configuration.RemoveTriple {
		again = again.With(remedy.Flag("remove", w.Remove))
	}
	if w.Drawn.QueriesPerEpoch > 0 {
		again = again.With(w.Drawn.flags())
	}
	if w.Limit > 0 {
		again = again.With(remedy.Flag("limit", w.Limit))
	}
	// Every error names the command that makes the parts.
	replace := remedy.Do("run %v", again.With(remedy.Flag("force")))
	m, err := manifest.Read(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, remedy.Errorf(remedy.Do("run %v", again), "%s has no complete parts of the graph: %w", url, err)
	}
	if err != nil {
		return nil, remedy.Errorf(replace, "%w", err)
	}
	f := &Folder{url: url, ctx: ctx}
	if err := f.readHeader(ctx, m); err != nil {
		return nil, remedy.Errorf(replace, "%w", err)
	}
	if err := f.Header.fits(w); err != nil {
		switch h := f.Header; { // that, which may take long, replaces what is there
		case h.Limit > 0 && h.Limit != w.Limit:
			replace = remedy.Do("%v, or give score %v or train %v", replace, remedy.Flag("limit", h.Limit), remedy.Flag("valid_limit", h.Limit))
		case w.Split == Train && h.Remove != w.Remove:
			replace = remedy.Do("%v, or give train %v", replace, remedy.Flag("remove", h.Remove))
		}
		return nil, remedy.Errorf(replace, "%s: %w", url, err)
	}
	// Files are opened when a query of theirs is read.
	f.files, f.openFiles = len(f.Header.Firsts), map[int]*file{}
	listed := map[string]bool{}
	for _, listedFile := range m.Files {
		listed[listedFile.Name] = true
	}
	for i := range f.files {
		if name := File(i, f.files); !listed[name] {
			return nil, remedy.Errorf(replace, "%s: the manifest does not list %s", url, name)
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

// fits returns an error unless the parts were found for the wanted split, reach and graph.
func (h Header) fits(w Requirements) error {
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
	case h.Limit > 0 && h.Limit != w.Limit:
		return fmt.Errorf("the parts are for a sample of %d of the %d queries", h.Limit, h.Queries)
	}
	return nil
}

// Close closes the files.
func (f *Folder) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, opened := range f.openFiles {
		if opened.PartsReader != nil {
			errs = append(errs, opened.Close())
		}
	}
	clear(f.openFiles)
	return errors.Join(errs...)
}

// batch reads a batch of a file: the batch that may have a query, unless it is the given one of the same file.
func (f *Folder) batch(i int, number int64, held int) (batch int, rows []tables.Part, err error) {
	opened, err := f.take(i)
	if err != nil {
		return 0, nil, err
	}
	defer f.giveBack(opened)
	if batch = opened.Find(number); batch == held {
		return batch, nil, nil
	}
	rows, err = opened.Batch(batch)
	return batch, rows, err
}

// take returns a file, which it opens if it is not open. It stays open until giveBack.
func (f *Folder) take(i int) (*file, error) {
	f.mu.Lock()
	opened := f.openFiles[i]
	if opened == nil {
		f.closeOldest()
		opened = &file{}
		f.openFiles[i] = opened
	}
	f.clock++
	opened.readers, opened.used = opened.readers+1, f.clock
	f.mu.Unlock()
	opened.once.Do(func() { opened.PartsReader, opened.err = f.openFile(i) }) // while others are opened
	if opened.err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.openFiles[i] == opened {
			delete(f.openFiles, i)
		}
		return nil, opened.err
	}
	return opened, nil
}

// openFile opens file i, which must begin with the query that the header says.
func (f *Folder) openFile(i int) (*tables.PartsReader, error) {
	url := storage.Join(f.url, File(i, f.files))
	parts, err := tables.OpenParts(f.ctx, url, f.Header.sizes())
	if err != nil {
		return nil, err
	}
	if parts.Batches() == 0 || parts.First(0) != f.Header.Firsts[i] {
		parts.Close()
		return nil, remedy.Errorf(remedy.Run("bundle", remedy.Flag("force")),
			"%s does not begin with query %d, as %s says", url, f.Header.Firsts[i], headerFile)
	}
	return parts, nil
}

func (f *Folder) giveBack(opened *file) {
	f.mu.Lock()
	defer f.mu.Unlock()
	opened.readers--
}

// closeOldest closes the file that was used longest ago, if very many are open.
func (f *Folder) closeOldest() {
	if len(f.openFiles) < mostOpen {
		return
	}
	oldest := -1
	for i, opened := range f.openFiles {
		if opened.readers == 0 && (oldest < 0 || opened.used < f.openFiles[oldest].used) {
			oldest = i
		}
	}
	if oldest >= 0 {
		f.openFiles[oldest].Close()
		delete(f.openFiles, oldest)
	}
}

// Part is a part of the graph, found without its query's fact if it is for training, and its queries. It never changes.
type Part struct {
	Subgraph
	Queries []Numbered
}

// Reader finds parts by the numbers of their queries. It keeps the last batch, so that parts found in order are read
// once. It is not for concurrent use.
type Reader struct {
	folder      *Folder
	file, batch int
	rows        []tables.Part
	row         int // of the last part
	last        *Part
}

// Reader returns a reader of the folder.
func (f *Folder) Reader() *Reader { return &Reader{folder: f, file: -1, row: -1} }

// ErrAbsent is wrapped by the error of a query that no part has.
var ErrAbsent = errors.New("the folder has no part for it")

// Find returns the part of a query: the last one again, if it has the query.
func (r *Reader) Find(number int64) (*Part, error) {
	at, err := r.find(number)
	if err != nil {
		return nil, fmt.Errorf("finding the part of query %d of %s: %w", number, r.folder.url, err)
	}
	if at != r.row {
		r.row, r.last = at, r.folder.Header.part(&r.rows[at])
	}
	return r.last, nil
}

// find returns the place among the rows of the part that has a query.
func (r *Reader) find(number int64) (int, error) {
	file := sort.Search(r.folder.files, func(i int) bool { return r.folder.Header.Firsts[i] > number }) - 1
	if file < 0 {
		return 0, ErrAbsent
	}
	held := -1
	if file == r.file {
		held = r.batch
	}
	batch, rows, err := r.folder.batch(file, number, held)
	if err != nil {
		r.file, r.row = -1, -1
		return 0, err
	}
	if batch != held {
		r.file, r.batch, r.rows, r.row = file, batch, rows, -1
	}
	at := sort.Search(len(r.rows), func(i int) bool { return r.rows[i].Numbers[0] > number }) - 1
	if at < 0 {
		return 0, ErrAbsent
	}
	if _, found := slices.BinarySearch(r.rows[at].Numbers, number); !found {
		return 0, ErrAbsent
	}
	return at, nil
}

// part returns the part of a row, whose arrays it shares.
func (h *Header) part(row *tables.Part) *Part {
	p := &Part{Subgraph: Subgraph{
		Entities: row.Entities, Degrees: row.Degrees, Senders: row.Senders, Relations: row.Relations, Offsets: make([]int64, 1+len(row.Counts)),
	}}
	for i, count := range row.Counts {
		p.Offsets[i+1] = p.Offsets[i] + int64(count)
	}
	p.Query, p.Queries = graph.Query{Source: p.Local(row.Source), Answer: graph.None}, queriesOf(row)
	if !h.HasRemovals() {
		return p
	}
	q := p.Queries[0]
	if answer := p.Local(q.Answer); answer >= 0 {
		p.Relation, p.Answer, p.Removal = q.Relation, answer, configuration.Removal(h.Remove)
	}
	return p
}

func queriesOf(row *tables.Part) []Numbered {
	queries, known, run := make([]Numbered, len(row.Numbers)), row.Known, 0
	var answers []int32
	for i, number := range row.Numbers {
		if i == 0 || row.Asked[i] != row.Asked[i-1] {
			n := row.KnownCounts[run]
			answers, known, run = known[:n:n], known[n:], run+1
		}
		queries[i] = Numbered{Number: number, Query: graph.Query{Source: row.Source, Relation: row.Asked[i], Answer: row.Answers[i]}, Known: answers}
	}
	return queries
}
