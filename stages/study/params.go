package study

import (
	"context"

	"tagnet/formats/storage/lock"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/study"
	"tagnet/stages/encode"
)

// Params are the parameters of both Search and Count.
type Params struct {
	// Graph is the URL of the graph/ folder, which workers load.
	Graph string
	// Split names the queries that count. It also decides which graph is searched.
	Split string
	// Folder is the URL of the output folder.
	Folder string
	// Lock guards Folder; the zero Lock is never lost.
	Lock lock.Lock
	// Kernel names the variant of the kernels; see kernel.Named. It changes no distances and no counts of the window.
	Kernel string
	// Threads is the most threads of a process, at most one per core; 0 is one per core.
	Threads int
	// Words is the most words of 64 sources that a thread searches from at once; see study.SweepParams.
	Words int
	// Memory is the budget of a worker process in bytes, for its garbage collector; 0 is none.
	Memory int64
}

// load loads the graph, once per process, and the queries of the split, sorted by source.
func (p Params) load(ctx context.Context) (k *kg.KG, view *kg.View, queries []graph.Query, err error) {
	if k, err = encode.Load(ctx, p.Graph); err != nil {
		return nil, nil, nil, err
	}
	queries, err = k.Queries(ctx, p.Split)
	return k, k.View(p.Split), queries, err
}

// sweep returns the parameters of a search from sources.
func (p Params) sweep(g *graph.Graph, sources []int32, hops int) study.SweepParams {
	return study.SweepParams{Graph: g, Sources: sources, Hops: hops, Kernel: p.Kernel, Threads: p.Threads, Words: p.Words}
}
