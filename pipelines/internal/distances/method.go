package distances

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"tagnet/formats/manifest"
	"tagnet/formats/tables"
	"tagnet/model/budget"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/progress"
	"tagnet/stages/distances"
	"tagnet/stages/graph"
)

// choice is how a split is searched.
type choice struct {
	method      string
	why         string // printed if auto chose the method
	params      distances.JoinParams
	perPipeline int // blocks of sources that one pipeline of a join searches
}

// Plan returns the error of a run with --method auto and this --memory, a UsageError that wraps a
// *budget.TooSmall, if the budget is too small to search a split from so many sources. m is the manifest
// of graph/.
func Plan(ctx context.Context, e *command.Environment, m manifest.Manifest, split string, hops int, memory int64, sources int) error {
	f := flags{split: split, sources: ofQueries, method: auto, hops: hops, memory: memory}
	_, err := f.choose(ctx, e, m, sources)
	return err
}

// choose returns the method and its parameters; with --method auto it decides by --memory. A budget
// that is too small for the method is a usage error.
func (f *flags) choose(ctx context.Context, e *command.Environment, m manifest.Manifest, sources int) (choice, error) {
	c := choice{method: f.method, params: Params(m, sources, distances.SearchParams{
		Graph: e.Workspace.Graph(), Split: f.split, Hops: f.hops, Folder: e.Workspace.Distances(f.split),
		Memory: f.memory * budget.MiB, Kernel: e.Variant(f.kernel),
	})}
	if len(c.params.Layout.Edges) == 0 || c.params.Layout.Entities < 1 {
		return c, fmt.Errorf("%s has no edges for --split %s; run %s", c.params.Graph, f.split, e.Workspace.Command("preprocess", "--force"))
	}
	sizes, err := graph.Sizes(ctx, e.Workspace.Graph(), m, f.split)
	if err != nil {
		return c, err
	}
	sizes.Sources = int64(sources)
	cores, bytes := runtime.GOMAXPROCS(0), f.memory*budget.MiB
	least := budget.Search(sizes, 1).Least(1) / budget.MiB
	planned, threads, perPipeline, refused := c.params.Layout.Plan(sizes, bytes, cores, command.Local())
	var small *budget.TooSmall
	if errors.As(refused, &small) {
		refused = e.TooSmall(f.memory, small)
	}
	if f.method == auto {
		c.method = join
		if f.memory >= least || small != nil && least <= small.Least/budget.MiB {
			c.method = worker
		}
		c.why = fmt.Sprintf("method %s: a worker that holds the graph of %s edges needs at least %d MiB, --memory is %d", c.method, progress.Count(sizes.Edges), least, f.memory)
	}
	if c.method == join {
		c.params.Layout, c.params.Threads, c.perPipeline = planned, threads, perPipeline
		return c, refused
	}
	estimate := func(words int) budget.Estimate { return budget.Search(sizes, words) }
	c.params.Words = budget.Widest(estimate, bytes, cores)
	plan, err := e.Plan(estimate(c.params.Words), f.memory, 0)
	if err != nil && refused == nil {
		err = fmt.Errorf("%w; or --method join, which holds no graph", err)
	}
	c.params.Threads = plan.MaxThreads
	return c, err
}

// loads returns what the step that writes the tables works on. A distance takes half a byte before compression.
func (c choice) loads(sources int64) []command.Load {
	step := "distances.search"
	if c.method == join {
		step = "distances.table"
	}
	perTable := int64(c.params.Layout.PerTable)
	return []command.Load{{
		Step: step, Elements: sources, Unit: "sources", Parts: (sources + perTable - 1) / perTable,
		Bytes: sources * int64(tables.PackedLen(c.params.Layout.Entities)), Compressed: true,
	}}
}
