package distance

import (
	"context"
	"runtime"
	"sync"

	"tagnet/model/graph"
	"tagnet/model/multisource"
)

// bytesPerThread bounds the distance rows that one thread holds: V bytes for each of the
// sources it searches at once, of which there are fewer on very large graphs.
const bytesPerThread = 256 << 20

// seats bounds the threads that search in this process, however many elements are under way.
var seats = make(chan struct{}, runtime.GOMAXPROCS(0))

// Sweep searches from sources, several at once in each of several threads. work makes something
// of each source's distances, in one of the threads, and must not keep them; each then gets
// what it made, in the order of the sources, in the calling goroutine. An error of either ends
// the sweep and is returned.
func Sweep[T any](ctx context.Context, g *graph.Graph, sources []int32, hops int, work func(source int32, distances []uint8) (T, error), each func(source int32, made T) error) error {
	ctx, cancel := context.WithCancel(ctx)
	width := min(multisource.Width, max(1, bytesPerThread/max(1, g.Entities)))
	lent := newBuffers(g, width)
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
		for from := 0; from < len(sources); from += width {
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
				out <- group{sources, made, lent.search(sources, hops, func(i int, distances []uint8) (err error) {
					made[i], err = work(sources[i], distances)
					return err
				})}
			}(sources[from:min(from+width, len(sources))])
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

// buffers lends searchers and rows, so that a long sweep allocates them once a thread.
type buffers struct {
	graph *graph.Graph
	width int
	mu    sync.Mutex
	free  []buffer
}

type buffer struct {
	searcher  *multisource.Searcher
	distances [][]uint8
}

func newBuffers(g *graph.Graph, width int) *buffers { return &buffers{graph: g, width: width} }

// search searches from at most width sources and calls each for every one of them.
func (b *buffers) search(sources []int32, hops int, each func(i int, distances []uint8) error) error {
	one := b.take()
	defer b.giveBack(one)
	distances := one.distances[:len(sources)]
	if err := one.searcher.Search(sources, hops, distances); err != nil {
		return err
	}
	for i := range sources {
		if err := each(i, distances[i]); err != nil {
			return err
		}
	}
	return nil
}

func (b *buffers) take() buffer {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.free); n > 0 {
		one := b.free[n-1]
		b.free = b.free[:n-1]
		return one
	}
	one := buffer{multisource.NewSearcher(b.graph), make([][]uint8, b.width)}
	for i := range one.distances {
		one.distances[i] = make([]uint8, b.graph.Entities)
	}
	return one
}

func (b *buffers) giveBack(one buffer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.free = append(b.free, one)
}
