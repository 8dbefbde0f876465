package distances

import (
	"cmp"
	"context"
	"sync"

	"tagnet/formats/tables"
	"tagnet/model/graph"
	"tagnet/model/kernel"
	"tagnet/model/messages"
	"tagnet/model/multisource"
)

// bytesPerThread bounds the searcher of one thread where nothing else does. On very large graphs
// it takes fewer sources at once: never fewer than 64.
const bytesPerThread = 256 << 20

// SweepParams says what is searched, and what for.
type SweepParams struct {
	// Graph is what is searched.
	Graph *graph.Graph
	// Sources are where from, in the order in which each is to get them.
	Sources []int32
	// Hops is how far, at most tables.MaxHops.
	Hops int
	// Kernel names the variant of the kernels; see kernel.Named. It changes no result.
	Kernel string
	// Gather says what work is given. What is not asked for takes no time.
	Gather multisource.Gather
	// Threads bounds the threads; 0 is as many as there are cores, which are the most.
	Threads int
	// PerThread is the most bytes that a thread's searcher may take; 0 is 256 MiB.
	PerThread int64
	// Neighbours, if not nil, are those of the graph: distances come sooner by them.
	Neighbours *multisource.Neighbours
}

// SweepMemory is the bytes of one thread of Sweep that searches so many words of 64 sources at
// once in a graph of so many entities: the searcher of multisource.Memory, and a byte an entity
// for distances that are unpacked.
func SweepMemory(entities int64, words int, gather multisource.Gather) int64 {
	return multisource.Memory(int(entities), words, gather) + entities
}

// Searched is what a search from one source gathered. It is valid while work uses it.
type Searched struct {
	Source int32
	// Packed is the distances to all entities, as tables.Pack packs them; nil if not gathered.
	Packed []byte
	// Levels is how the edges lie to the levels of distance; zero if not gathered.
	Levels messages.Levels

	unpacked *[]uint8
	entities int
}

// Distances unpacks the distances: hops to every entity, or tables.Unreached.
func (s *Searched) Distances() []uint8 {
	if *s.unpacked == nil {
		*s.unpacked = make([]uint8, s.entities)
	}
	tables.Unpack(s.Packed, *s.unpacked)
	return *s.unpacked
}

// Sweep searches from sources, up to 512 at once in each of several threads. work makes
// something of what each source's search gathered, in one of the threads; each then gets what
// it made, in the order of the sources, in the calling goroutine. An error of either ends the
// sweep and is returned.
func Sweep[T any](ctx context.Context, p SweepParams, work func(*Searched) (T, error), each func(source int32, made T) error) error {
	k, err := kernel.Named(p.Kernel)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	seats := seatsFor(p.Threads)
	lent := newSearchers(p, k, cap(seats))
	type group struct {
		sources []int32
		made    []T
		err     error
	}
	waiting := make(chan chan group, cap(seats)) // in order; as many are searched ahead
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Add(1)
	go func() {
		defer running.Done()
		defer close(waiting)
		for from := 0; from < len(p.Sources); from += lent.width {
			out := make(chan group, 1)
			select {
			case waiting <- out:
			case <-ctx.Done():
				return
			}
			running.Add(1)
			go func(sources []int32) {
				defer running.Done()
				select {
				case seats <- struct{}{}:
				case <-ctx.Done():
					out <- group{err: ctx.Err()}
					return
				}
				defer func() { <-seats }()
				made := make([]T, len(sources))
				out <- group{sources, made, lent.search(sources, func(i int, s *Searched) (err error) {
					made[i], err = work(s)
					return err
				})}
			}(p.Sources[from:min(from+lent.width, len(p.Sources))])
		}
	}()
	for out := range waiting {
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

// searchers are lent, so that a long sweep allocates them once a thread.
type searchers struct {
	params       SweepParams
	kernel       kernel.Kernel
	words, width int // of a searcher, and how many sources it is given
	mu           sync.Mutex
	free         []*searcher
}

type searcher struct {
	*multisource.Searcher
	unpacked []uint8
}

// newSearchers divides few sources evenly among the threads.
func newSearchers(p SweepParams, k kernel.Kernel, threads int) *searchers {
	each := (len(p.Sources) + threads - 1) / threads
	words := multisource.Words(k.Widths(), p.Graph.Entities, each, p.Gather, cmp.Or(p.PerThread, bytesPerThread))
	return &searchers{params: p, kernel: k, words: words, width: max(1, min(64*words, each))}
}

// search searches from at most width sources and calls each for every one of them.
func (l *searchers) search(sources []int32, each func(i int, s *Searched) error) error {
	one := l.take()
	defer l.giveBack(one)
	if err := one.Search(sources, l.params.Hops); err != nil {
		return err
	}
	for i, source := range sources {
		found := Searched{source, one.Packed(i), one.Levels(i), &one.unpacked, l.params.Graph.Entities}
		if err := each(i, &found); err != nil {
			return err
		}
	}
	return nil
}

func (l *searchers) take() *searcher {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.free); n > 0 {
		one := l.free[n-1]
		l.free = l.free[:n-1]
		return one
	}
	one := multisource.NewSearcher(l.params.Graph, l.kernel, l.words, l.params.Gather)
	if l.params.Neighbours != nil {
		one.Along(l.params.Neighbours)
	}
	return &searcher{Searcher: one}
}

func (l *searchers) giveBack(one *searcher) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free = append(l.free, one)
}
