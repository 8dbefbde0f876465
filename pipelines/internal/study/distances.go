package study

import (
	"context"
	"flag"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/hop"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/model/budget"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/cli/workspace"
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
	if err := command.CheckKernel(f.kernel); err != nil {
		return err
	}
	return command.CheckMemory(f.memory)
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
	inputs := map[string]string{workspace.GraphFolder: m.Checksum}
	// What decides the content, and the sources.
	stage := workspace.Stage{
		Workspace: w, Name: "distances", Folder: workspace.DistancesFolder(f.split),
		Configuration: distancesRecorded{f.split, f.sources, f.hops}, Inputs: inputs, Vocabulary: m.Vocabulary,
		Command: e.Again(), Outputs: []string{counts.DistributionFile},
	}
	// This process does not load the graph.
	queries, err := kg.CountQueries(ctx, w.Graph(), f.split)
	if err != nil {
		return err
	}
	if queries == 0 {
		return command.NoQueries(f.split, "choose another --split")
	}
	sources := everyEntity(kg.EntitiesOf(m, f.split))
	if f.sources == ofQueries {
		if sources, err = kg.SourcesOf(ctx, w.Graph(), f.split); err != nil {
			return err
		}
	}
	// Allot before Begin, which removes what --force replaces: the budget may be too small.
	params, err := f.params(ctx, e, m, len(sources))
	if err != nil {
		return err
	}
	perTable := study.SourcesPerShard(kg.EntitiesOf(m, f.split), kg.EdgesOf(m, f.split))
	stage.Ready = e.Ready(command.Work{Jobs: func() ([]*beam.Pipeline, error) {
		return []*beam.Pipeline{BuildDistances(sources, perTable, params)}, nil
	}, Memory: f.memory, Count: int64(len(sources)), Unit: "sources", Loads: distancesLoads(m, f.split, int64(len(sources)), int64(perTable))})
	// From here on files are written.
	done, err := stage.Begin(ctx, e.Force)
	if err != nil {
		return err
	}
	if done {
		e.Say("%s is complete with the same configuration; --force overwrites it", w.Distances(f.split))
		return f.finish(ctx, e, false)
	}
	params.Lock = stage.Lock()
	if err := f.search(ctx, e, sources, perTable, params); err != nil {
		stage.Abandon(!command.Local())
		return err
	}
	if err := stage.Publish(ctx, map[string]int64{"sources": int64(len(sources)), "queries": queries}); err != nil {
		return err
	}
	return f.finish(ctx, e, true)
}

func everyEntity(entities int) []int32 {
	sources := make([]int32, entities)
	for i := range sources {
		sources[i] = int32(i)
	}
	return sources
}

// search searches from sources, in increasing order, with perTable of them in each table.
func (f *distancesFlags) search(ctx context.Context, e *command.Environment, sources []int32, perTable int, params study.SearchParams) error {
	defer budget.Limit(f.memory * budget.MiB)()
	bar := e.Progress.Begin("distances", int64(len(sources)), "sources")
	defer bar.End()
	defer bar.Follow(ctx, "sources_searched")()
	if err := e.RunBeam(ctx, BuildDistances(sources, perTable, params)); err != nil {
		return err
	}
	bar.Set(int64(len(sources)))
	return nil
}

// BuildDistances returns the Beam pipeline that searches from sources, in increasing order, with perTable of them in each table.
func BuildDistances(sources []int32, perTable int, p study.SearchParams) *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	study.Search(s, beam.CreateList(s, study.Shards(sources, perTable)), p)
	return pipeline
}

// finish prints the distribution, the output files and the next command. made reports whether this run
// wrote them.
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
