package study

import (
	"cmp"
	"context"
	"runtime"
	"sync"

	"tagnet/formats/workspace/tables"
	"tagnet/model/budget"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
)

// SweepParams are the parameters of Sweep.
type SweepParams struct {
	// Graph is the graph that is searched.
	Graph *graph.Graph
	// Sources are searched from, and results delivered, in this order.
	Sources []int32
	// Hops is the largest distance, at most hop.Most.
	Hops int
	// Kernel names the variant of the kernels; see kernel.Named. It changes no result.
	Kernel string
	// Gather selects what a Result has. What is not selected takes no time.
	Gather Gather
	// Threads is the most threads; 0 is one per core, which is also the limit.
	Threads int
	// Words is the most words of 64 sources that a thread searches from at once; 0 is no limit.
	Words int
	// Neighbors, if not nil, are the neighbors in the graph, which make the search for distances faster.
	Neighbors *Neighbors
}

// Result has the distances and levels found from one source. It is valid during the call that receives it.
type Result struct {
	Source int32
	// Packed are the distances to all entities, as tables.Pack packs them; nil if not gathered.
	Packed []byte
	// Levels are the numbers of edges between and inside the levels of distance; zero if not gathered.
	Levels Levels

	unpacked *[]uint8
	entities int
}

// Distances returns the unpacked distances: hops to every entity, or hop.Unreached.
func (r *Result) Distances() []uint8 {
	if *r.unpacked == nil {
		*r.unpacked = make([]uint8, r.entities)
	}
	tables.Unpack(r.Packed, *r.unpacked)
	return *r.unpacked
}

// Sweep searches from many sources, up to 512 at once in each of several threads. Each result goes
// to work in the thread that found it. What work returns goes to each in the calling goroutine, in
// the order of the sources. The first error of either ends the sweep and is returned.
func Sweep[T any](ctx context.Context, p SweepParams, work func(*Result) (T, error), each func(source int32, made T) error) error {
	k, err := kernel.Named(p.Kernel)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	semaphore := semaphoreFor(p.Threads)
	pool := newSearcherPool(p, k, cap(semaphore))
	type group struct {
		sources []int32
		made    []T
		err     error
	}
	// A search waits for one of the threads.
	search := func(sources []int32) group {
		select {
		case semaphore <- struct{}{}:
		case <-ctx.Done():
			return group{err: ctx.Err()}
		}
		defer func() { <-semaphore }()
		made := make([]T, len(sources))
		err := pool.search(sources, func(i int, r *Result) (err error) {
			made[i], err = work(r)
			return err
		})
		return group{sources, made, err}
	}
	pending := make(chan chan group, cap(semaphore)) // in order; limits how far searches run ahead of each
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	// Start groups in order, each with a channel for its results.
	running.Go(func() {
		defer close(pending)
		for from := 0; from < len(p.Sources); from += pool.width {
			out := make(chan group, 1)
			select {
			case pending <- out:
			case <-ctx.Done():
				return
			}
			sources := p.Sources[from:min(from+pool.width, len(p.Sources))]
			running.Go(func() { out <- search(sources) })
		}
	})
	// Hand the results over in order.
	for out := range pending {
		g := <-out
		if g.err != nil {
			return g.err
		}
		for i, source := range g.sources {
			if err := each(source, g.made[i]); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// searcherPool keeps idle searchers, so that a long sweep allocates one per thread.
type searcherPool struct {
	params       SweepParams
	kernel       kernel.BitSearch
	words, width int // words of a searcher, and how many sources it gets at once
	idle         chan *searcher
}

// searcher is a Searcher with a buffer for unpacked distances.
type searcher struct {
	*Searcher
	unpacked []uint8
}

// newSearcherPool divides few sources evenly among the threads.
func newSearcherPool(p SweepParams, k kernel.BitSearch, threads int) *searcherPool {
	each := (len(p.Sources) + threads - 1) / threads
	words := Words(k.RowWidths(), p.Graph.Entities, each, p.Gather, cmp.Or(p.Words, budget.Words[0]))
	return &searcherPool{params: p, kernel: k, words: words, width: max(1, min(64*words, each)), idle: make(chan *searcher, threads)}
}

// search searches from at most width sources and calls each with every result.
func (p *searcherPool) search(sources []int32, each func(i int, r *Result) error) error {
	s := p.get()
	defer func() { p.idle <- s }()
	if err := s.Search(sources, p.params.Hops); err != nil {
		return err
	}
	for i, source := range sources {
		if err := each(i, &Result{source, s.Packed(i), s.Levels(i), &s.unpacked, p.params.Graph.Entities}); err != nil {
			return err
		}
	}
	return nil
}

func (p *searcherPool) get() *searcher {
	select {
	case s := <-p.idle:
		return s
	default:
	}
	s := NewSearcher(p.params.Graph, p.kernel, p.words, p.params.Gather)
	if p.params.Neighbors != nil {
		s.visitNeighbors(p.params.Neighbors)
	}
	return &searcher{Searcher: s}
}

// semaphores limit the threads that search at the same time in this process, however many elements
// Beam processes at once: one for each limit, which a channel of that capacity counts.
var semaphores sync.Map // map[int]chan struct{}

// semaphoreFor returns the semaphore of a number of threads, at most one per core; 0 is one per core.
func semaphoreFor(threads int) chan struct{} {
	if cores := runtime.GOMAXPROCS(0); threads <= 0 || threads > cores {
		threads = cores
	}
	semaphore, _ := semaphores.LoadOrStore(threads, make(chan struct{}, threads))
	return semaphore.(chan struct{})
}
