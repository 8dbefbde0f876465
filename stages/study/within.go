package study

import (
	"context"
	"runtime"
	"slices"
	"sync"

	"tagnet/model/engine/parts"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/parallel"
	"tagnet/model/study"
	"tagnet/model/weights/configuration"
)

// within counts the levels of the parts of a graph that queries propagate through. It is not for concurrent use.
type within struct {
	graph     *graph.Graph
	layers    []int
	finders   []*parts.Finder // by the index of layers, each for that many hops
	part      parts.Subgraph
	distances []uint8
	trainer   trainer
}

func newWithin(g *graph.Graph, reach int, layers []int) *within {
	w := &within{graph: g, layers: layers}
	for _, hops := range layers {
		w.finders = append(w.finders, parts.NewFinder(g, reach, hops))
	}
	return w
}

// add adds times the levels of a query to a sum, by the index of the layers. An edge with an end outside of the part
// counts as empty.
func (w *within) add(q graph.Query, times int64, sum []study.Levels) {
	for i, finder := range w.finders {
		finder.Find(q, &w.part)
		local := w.part.Of(w.graph)
		w.distances = slices.Grow(w.distances[:0], local.Entities)[:local.Entities]
		graph.NewSearcher(local).Search(w.part.Source, w.layers[i], w.part.Query, w.distances)
		levels := study.CountLevels(local, w.distances, w.layers[i])
		levels.Edges = w.graph.Edges()
		if q.Removal != graph.RemoveNothing {
			w.remove(local, q, &levels)
		}
		sum[i] = sum[i].Plus(levels.Times(times))
	}
}

// remove takes the edges that leave the graph of a query out of levels by distances without it: they are between the
// source and the answer.
func (w *within) remove(local *graph.Graph, q graph.Query, levels *study.Levels) {
	removed, _ := w.graph.Between(q)
	levels.Edges -= removed
	if q.Source != q.Answer {
		levels.Edges -= removed // each with its inverse
	}
	if w.part.Removal == graph.RemoveNothing {
		return // the answer is outside
	}
	removed, _ = local.Between(w.part.Query)
	switch w.distances[w.part.Answer] {
	case 0:
		levels.Within[0] -= removed
	case 1:
		levels.Between[1] -= removed
	}
}

// counting has one shard at a time counted in parts of the graph, by all threads: each thread holds a part.
var counting sync.Mutex

// countWithin counts the queries of sources, each in its part of the graph.
func (f *countFn) countWithin(ctx context.Context, sources []int32) ([]sourceCounts, error) {
	counting.Lock()
	defer counting.Unlock()
	threads := runtime.GOMAXPROCS(0)
	if f.Params.Threads > 0 {
		threads = min(threads, f.Params.Threads)
	}
	threads = min(threads, len(sources))
	counted := sourcesCounted.Adder(ctx)
	all, workers := make([]sourceCounts, len(sources)), make([]*within, threads)
	err := parallel.Try(ctx, threads, len(sources), func(ctx context.Context, worker, task int) error {
		if workers[worker] == nil {
			workers[worker] = newWithin(f.graph, f.Params.Reach, f.Params.Layers)
		}
		w, source := workers[worker], sources[task]
		queries, parts := kg.OfSource(f.queries, source), make([]study.Levels, len(f.Params.Layers))
		if f.Params.removes() {
			for q, n := range w.trainer.distinct(queries, configuration.Removal(f.Params.Remove)) {
				w.add(q, n, parts)
			}
		} else {
			w.add(graph.Query{Source: source, Answer: graph.None}, 1, parts)
		}
		all[task] = sourceCounts{Source: source, Queries: int64(len(queries)), Parts: parts}
		counted(1)
		return ctx.Err()
	})
	return all, err
}
