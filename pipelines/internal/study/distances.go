package study

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"runtime"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/hop"
	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/budget"
	"tagnet/model/graph/kg"
	"tagnet/model/parallel"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/stages/encode"
	"tagnet/stages/study"
)

// The values of --sources.
const (
	ofQueries = "queries"
	all       = "all"
)

type distancesFlags struct {
	split, sources, kernel string
	hops                   int
	memory                 int64
}

// Distances is go run ./pipelines/distances.
func Distances() command.Pipeline {
	f := &distancesFlags{}
	return command.Pipeline{
		Name:    "distances",
		Summary: "Searches the graph: hops from each source of a split's queries to every entity.",
		Flags: func(set *flag.FlagSet) {
			command.Choice(set, &f.split, "split", "train", kg.Splits, "the split whose queries are searched")
			command.Choice(set, &f.sources, "sources", ofQueries, []string{ofQueries, all}, "search from the queries' sources, or from every entity")
			set.IntVar(&f.hops, "max_hops", 6, "depth of the search, 1 to 14; at least the layers of the model")
			command.Memory(set, &f.memory)
			command.Kernel(set, &f.kernel, "kernels of the search; does not change results")
		},
		Run: f.run,
	}
}

// distancesRecorded has the flags that decide the content of distances/SPLIT.
type distancesRecorded struct {
	Split   string `json:"split"`
	Sources string `json:"sources"`
	MaxHops int    `json:"max_hops"`
}

// check returns an error of use for values that are out of range.
func (f *distancesFlags) check() error {
	if f.hops < 1 || f.hops > hop.Most {
		return command.FlagError("max_hops", f.hops, fmt.Sprintf("1 to %d", hop.Most))
	}
	return cmp.Or(command.CheckKernel(f.kernel), command.CheckMemory(f.memory))
}

// run writes the distances from the sources of a split and their distribution.
func (f *distancesFlags) run(ctx context.Context, e *command.Environment) error {
	if err := f.check(); err != nil {
		return err
	}
	w := e.Workspace
	m, err := w.Require(ctx, workspace.GraphFolder, w.Command("preprocess"))
	if err != nil {
		return err
	}
	if err := kg.Check(ctx, w.Graph(), m); err != nil { // the tables are not loaded
		return err
	}
	// This process does not load the graph.
	queries, err := kg.CountQueries(ctx, w.Graph(), f.split)
	if err != nil {
		return err
	}
	if queries == 0 {
		return command.NoQueries(f.split, "choose another --split")
	}
	var sources []int32
	if f.sources == ofQueries {
		if sources, err = kg.SourcesOf(ctx, w.Graph(), f.split); err != nil {
			return err
		}
	} else {
		sources = parallel.Indices[int32](kg.EntitiesOf(m, f.split))
	}
	params, err := f.params(ctx, e, m, len(sources))
	if err != nil {
		return err
	}
	perTable := study.SourcesPerShard(kg.EntitiesOf(m, f.split), kg.EdgesOf(m, f.split))
	j := job{
		output: workspace.Output{
			Workspace: w, Name: "distances", Folder: workspace.DistancesFolder(f.split),
			Configuration: distancesRecorded{f.split, f.sources, f.hops}, Inputs: map[string]string{workspace.GraphFolder: m.Checksum},
			Vocabulary: m.Vocabulary,
			Command:    e.Again(), Outputs: []string{counts.DistributionFile},
		},
		memory: f.memory, sources: int64(len(sources)), loads: distancesLoads(m, f.split, int64(len(sources)), int64(perTable)),
		total: int64(len(sources)), unit: "sources", counter: "sources_searched", queries: queries,
		build: func(held lock.Lock) *beam.Pipeline {
			params.Lock = held
			return BuildDistances(sources, perTable, params)
		},
	}
	made, err := j.run(ctx, e)
	if err != nil {
		return err
	}
	return f.finish(ctx, e, made)
}

// BuildDistances returns the Beam pipeline that searches from sources, in increasing order, with perTable of
// them in each table.
func BuildDistances(sources []int32, perTable int, p study.SearchParams) *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	study.Search(s, beam.CreateList(s, study.Shards(sources, perTable)), p)
	return pipeline
}

// finish prints the distribution, the output files and the next command. made reports whether this run wrote them.
func (f *distancesFlags) finish(ctx context.Context, e *command.Environment, made bool) error {
	folder := e.Workspace.Distances(f.split)
	d, err := counts.ReadDistribution(ctx, folder)
	if err != nil {
		return err
	}
	e.Say("")
	e.Say("%s: distance from source to answer of %s queries", f.split, progress.Count(d.Queries))
	for hops := range f.hops + 1 {
		show(e, fmt.Sprint(hops), d, hops > 0)
	}
	show(e, hop.Key, d, true)
	if f.split == "train" {
		e.Say("  (training removes each query's own edge, which makes its answer farther)")
	}
	e.Say("")
	e.Outputs(made, folder, storage.Join(folder, counts.DistributionFile))
	switch f.split {
	case "train":
		e.NextSteps(ctx, e.TrainStep())
	default:
		e.NextSteps(ctx, command.Step{Command: e.Workspace.Command("messages", "--split", f.split), Folder: e.Workspace.MessagesFolder(f.split)}, e.TrainStep())
	}
	return nil
}

// show prints one distance and its share.
func show(e *command.Environment, at string, d counts.Distribution, always bool) {
	if n := d.ByDistance[at]; n > 0 || always {
		e.Say("  %9s %12s %6.2f%%", at, progress.Count(n), 100*float64(n)/float64(max(1, d.Queries)))
	}
}

// params returns the parameters of a search within --memory.
func (f *distancesFlags) params(ctx context.Context, e *command.Environment, m manifest.Manifest, sources int) (study.SearchParams, error) {
	p := study.SearchParams{
		Params: study.Params{Graph: e.Workspace.Graph(), Split: f.split, Folder: e.Workspace.Distances(f.split),
			Memory: f.memory * budget.MiB, Kernel: e.Variant(f.kernel)},
		Hops: f.hops,
	}
	if len(kg.EdgeFiles(m, f.split)) == 0 || kg.EntitiesOf(m, f.split) < 1 {
		return p, fmt.Errorf("%s has no edges for --split %s; run %s", p.Graph, f.split, e.Workspace.Command("preprocess", "--force"))
	}
	sizes, err := encode.Sizes(ctx, e.Workspace.Graph(), m, f.split)
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

// distancesLoads returns what the step that writes the tables works on. A distance takes half a byte
// before compression.
func distancesLoads(m manifest.Manifest, split string, sources, perTable int64) []command.Load {
	return []command.Load{{
		Step: "study.search", Elements: sources, Unit: "sources", Parts: (sources + perTable - 1) / perTable,
		Bytes: sources * int64(tables.PackedLen(kg.EntitiesOf(m, split))), Compressed: true,
	}}
}
