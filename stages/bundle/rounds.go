package bundle

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage/lock"
	"tagnet/model/budget"
	"tagnet/model/engine/parts"
	"tagnet/stages/worker"
)

// Params are the parameters of Find.
type Params struct {
	// Graph is the URL of the graph/ folder. Edges are the names of the files of edges of the graph that the queries
	// are about, in order, and Answers is the name of the file of known answers, or "" if only edges are known.
	Graph   string
	Edges   []string
	Answers string
	// Header is the folder's header without Firsts and Degrees, which workers do not need.
	Header parts.Header
	// Folder is the URL of the folder that takes the files.
	Folder string
	// Lock guards Folder; the zero Lock is never lost.
	Lock lock.Lock
	// Threads is the most threads of a process that hold a block or a search. Memory is the budget of a worker process
	// in bytes, a limit for its garbage collector; 0 is no limit.
	Threads int
	Memory  int64
}

// File is the queries of one file of parts, in their order. It is an element of pipelines.
type File struct {
	// Number counts the files from 0, Files is how many there are, Parts how many parts the file has.
	Number, Files, Parts int
	// Numbers (parts.Numbered), Sources, Relations and Answers have an entry for each query.
	Numbers                     []int64
	Sources, Relations, Answers []int32
}

func init() {
	beam.RegisterDoFn(&seedFn{})
	beam.RegisterDoFn(&answerFn{})
	beam.RegisterDoFn(&advanceFn{})
	beam.RegisterDoFn(&pieceFn{})
	beam.RegisterType(reflect.TypeFor[File]())
}

// searchRounds counts the rounds of searches that are complete.
var searchRounds = worker.NewCounter("parts", "search_rounds")

// Find finds the parts of the queries of files in rounds, which the package's documentation describes, and writes the
// files. Input: File, all or some of a folder's. Output: the number of each file that is written.
func Find(s beam.Scope, files beam.PCollection, p Params) beam.PCollection {
	s = s.Scope("bundle.Find")
	searches, requests := beam.ParDo2(s, &seedFn{Params: p}, beam.Reshuffle(s, files))
	rounds := parts.Rounds(p.Header.Layers)
	for round := range rounds {
		r := s.Scope(fmt.Sprintf("round-%02d", round))
		lists := beam.ParDo(r, &answerFn{Params: p}, beam.GroupByKey(r, requests))
		searches, requests = beam.ParDo2(r, &advanceFn{Params: p, Last: round == rounds-1}, beam.CoGroupByKey(r, searches, lists))
	}
	pieces := beam.ParDo(s, &pieceFn{Params: p}, beam.GroupByKey(s, requests))
	return beam.ParDo(s, &writeFn{Params: p}, beam.CoGroupByKey(s, searches, pieces))
}

// seedFn begins the searches of a file.
type seedFn struct{ Params Params }

// ProcessElement emits each search by its key, and its first requests by block.
func (f *seedFn) ProcessElement(ctx context.Context, file File, emitSearch, emitRequest func(int, []byte)) error {
	finder := parts.NewPartial(f.Params.Header.Reach, f.Params.Header.Layers)
	for _, s := range f.Params.searches(file) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		requests := f.Params.advance(finder, s)
		emitSearch(s.key(), s.encode())
		emitAll(encodeRequests(requests), emitRequest)
	}
	return nil
}

// searches returns the searches of a file: one for each query of training, else one for each source.
func (p Params) searches(file File) (list []*search) {
	for i, number := range file.Numbers {
		if p.Header.Split == parts.Train || i == 0 || file.Sources[i] != file.Sources[i-1] {
			list = append(list, &search{file: file.Number, files: file.Files, source: file.Sources[i], known: map[int32]parts.SenderList{}})
		}
		s := list[len(list)-1]
		s.numbers, s.relations, s.answers = append(s.numbers, number), append(s.relations, file.Relations[i]), append(s.answers, file.Answers[i])
	}
	return list
}

// encodeRequests returns requests as elements, in the order of their blocks.
func encodeRequests(requests map[int]*request) (list []keyed) {
	for _, block := range slices.Sorted(maps.Keys(requests)) {
		list = append(list, keyed{block, requests[block].encode()})
	}
	return list
}

type keyed struct {
	key   int
	bytes []byte
}

func emitAll(list []keyed, emit func(int, []byte)) {
	for _, k := range list {
		emit(k.key, k.bytes)
	}
}

// answerFn answers the requests of searches to a block.
type answerFn struct {
	Params Params

	blocks worker.Concurrent[[]keyed]
}

func (f *answerFn) Setup() { budget.Limit(f.Params.Memory) }

// ProcessElement begins to answer the requests to a block.
func (f *answerFn) ProcessElement(ctx context.Context, number int, requests func(*[]byte) bool, _ func(int, []byte)) error {
	elements := worker.Drain(requests)
	return f.blocks.Go(ctx, f.Params.Threads, func(ctx context.Context) ([]keyed, error) { return f.Params.answerRequests(ctx, number, elements) })
}

// FinishBundle emits the lists of each request by the key of its search.
func (f *answerFn) FinishBundle(_ context.Context, emit func(int, []byte)) error {
	return f.blocks.Finish(func(list []keyed) { emitAll(list, emit) })
}

// answerRequests returns the lists of a block that requests want.
func (p Params) answerRequests(ctx context.Context, number int, requests [][]byte) ([]keyed, error) {
	block, err := p.readBlock(ctx, number)
	if err != nil {
		return nil, err
	}
	var lists []keyed
	for _, element := range requests { // decoded one at a time: all of them take several times their bytes
		r, err := decodeRequest(element)
		if err != nil {
			return nil, err
		}
		var e encoder
		encodeLists(&e, r.answer(block))
		lists = append(lists, keyed{r.search, e.bytes})
	}
	return lists, nil
}

func (r *request) answer(block *parts.EdgeBlock) map[int32]parts.SenderList {
	lists := map[int32]parts.SenderList{}
	for _, w := range r.requested {
		lists[w.Entity] = block.SendersOf(w, r.Query)
	}
	return lists
}

// advanceFn continues a search. After the last round it emits searches by file and requests pieces.
type advanceFn struct {
	Params Params
	Last   bool

	searches worker.Concurrent[advanced]
	finders  sync.Pool // of *parts.Partial
}

// advanced is a search after a round, and its next requests.
type advanced struct {
	search   keyed
	requests []keyed
}

// ProcessElement begins to join a search with the lists that have arrived.
func (f *advanceFn) ProcessElement(ctx context.Context, key int, searches, lists func(*[]byte) bool, _, _ func(int, []byte)) error {
	search, arrived := worker.Drain(searches), worker.Drain(lists)
	if len(search) == 0 {
		return fmt.Errorf("the search of query %d is missing: %w", key, errElement)
	}
	return f.searches.Go(ctx, f.Params.Threads, func(ctx context.Context) (advanced, error) {
		a, err := f.advance(search[0], arrived)
		if err == nil {
			searchRounds.Inc(ctx, 1)
		}
		return a, err
	})
}

func (f *advanceFn) FinishBundle(_ context.Context, emitSearch, emitRequest func(int, []byte)) error {
	return f.searches.Finish(func(a advanced) {
		emitSearch(a.search.key, a.search.bytes)
		emitAll(a.requests, emitRequest)
	})
}

// advance joins a search with the lists of edges that it asked for in the round before.
func (f *advanceFn) advance(element []byte, lists [][]byte) (advanced, error) {
	s, err := decodeSearch(element)
	if err != nil {
		return advanced{}, err
	}
	for _, list := range lists {
		d := &decoder{bytes: list}
		if decodeLists(d, s.known); d.err != nil {
			return advanced{}, d.err
		}
	}
	finder, ok := f.finders.Get().(*parts.Partial)
	if !ok {
		finder = parts.NewPartial(f.Params.Header.Reach, f.Params.Header.Layers)
	}
	defer f.finders.Put(finder)
	requests, key := f.Params.advance(finder, s), s.key()
	// After the last round no lists are requested any more but the pieces of the part, and the search has
	// the key of its file.
	if f.Last {
		key = s.file
		if requests, err = f.Params.pieces(s); err != nil {
			return advanced{}, err
		}
	}
	return advanced{keyed{key, s.encode()}, encodeRequests(requests)}, nil
}

// pieceFn makes the pieces of parts that a block has.
type pieceFn struct {
	Params Params

	blocks worker.Concurrent[[]keyed]
}

// ProcessElement begins to make the pieces of a block.
func (f *pieceFn) ProcessElement(ctx context.Context, number int, requests func(*[]byte) bool, _ func(int, []byte)) error {
	elements := worker.Drain(requests)
	return f.blocks.Go(ctx, f.Params.Threads, func(ctx context.Context) (pieces []keyed, err error) {
		all, err := decodeAll(elements, decodeRequest)
		if err != nil {
			return nil, err
		}
		var sources []int32
		for _, r := range all {
			if len(r.relations) > 0 {
				sources = append(sources, r.Source)
			}
		}
		err = f.Params.makePieces(ctx, number, all, sources, func(file int, piece []byte) { pieces = append(pieces, keyed{file, piece}) })
		return pieces, err
	})
}

// FinishBundle emits the piece of each request by the number of its file.
func (f *pieceFn) FinishBundle(_ context.Context, emit func(int, []byte)) error {
	return f.blocks.Finish(func(list []keyed) { emitAll(list, emit) })
}
