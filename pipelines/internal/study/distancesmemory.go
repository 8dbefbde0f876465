package study

import (
	"context"
	"fmt"
	"runtime"

	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/budget"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/stages/preprocess"
	"tagnet/stages/study"
)

// params returns the parameters of a search within --memory.
func (f *distancesFlags) params(ctx context.Context, e *command.Environment, m manifest.Manifest, sources int) (study.SearchParams, error) {
	p := study.SearchParams{
		Graph: e.Workspace.Graph(), Split: f.split, Hops: f.hops, Folder: e.Workspace.Distances(f.split),
		Memory: f.memory * budget.MiB, Kernel: e.Variant(f.kernel),
	}
	if len(kg.EdgeFiles(m, f.split)) == 0 || kg.EntitiesOf(m, f.split) < 1 {
		return p, fmt.Errorf("%s has no edges for --split %s; run %s", p.Graph, f.split, e.Workspace.Command("preprocess", "--force"))
	}
	sizes, err := preprocess.Sizes(ctx, e.Workspace.Graph(), m, f.split)
	if err != nil {
		return p, err
	}
	sizes.Sources = int64(sources)
	estimate := func(words int) budget.Estimate {
		return budget.Search(sizes, "searching in a worker that holds the graph", words, 0, 0)
	}
	p.Words = budget.Widest(estimate, f.memory*budget.MiB, runtime.GOMAXPROCS(0))
	a, err := e.Allot(estimate(p.Words), f.memory, 0)
	p.Threads = a.MaxThreads
	return p, err
}

// distancesLoads returns what the step that writes the tables works on. A distance takes half a byte before compression.
func distancesLoads(m manifest.Manifest, split string, sources, perTable int64) []command.Load {
	return []command.Load{{
		Step: "study.search", Elements: sources, Unit: "sources", Parts: (sources + perTable - 1) / perTable,
		Bytes: sources * int64(tables.PackedLen(kg.EntitiesOf(m, split))), Compressed: true,
	}}
}
