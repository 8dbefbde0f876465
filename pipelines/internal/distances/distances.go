package distances

import (
	"context"
	"flag"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/progress"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/distance"
	"tagnet/stages/graph"
)

// What --sources and --method take.
const (
	ofQueries = "queries"
	all       = "all"

	auto   = "auto"
	worker = "worker"
	join   = "join"
)

// edgesOfWorker is how large a graph auto still lets a worker hold: 8 bytes an edge.
const edgesOfWorker = 1 << 30

type flags struct {
	split, sources, method string
	hops                   int
}

// Pipeline is go run ./pipelines/distances.
func Pipeline() command.Pipeline {
	f := &flags{}
	return command.Pipeline{
		Name:    "distances",
		Summary: "Searches the graph: hops from each source of a split's queries to every entity.",
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&f.split, "split", "train", "`train|valid|test`: whose queries are asked")
			set.StringVar(&f.sources, "sources", ofQueries, "`queries|all`: search from the queries' sources, or from every entity")
			set.IntVar(&f.hops, "max_hops", 6, "how far is searched, 1 to 14; at least the layers of the model")
			set.StringVar(&f.method, "method", auto, "`auto|worker|join`: a worker holds the graph, or rounds of a join do without; auto decides by its size")
		},
		Run: f.run,
	}
}

// configuration decides the content of distances/SPLIT.
type configuration struct {
	Split   string `json:"split"`
	Sources string `json:"sources"`
	MaxHops int    `json:"max_hops"`
}

func (f *flags) check() error {
	if err := command.OneOf("split", f.split, workspace.Splits...); err != nil {
		return err
	}
	if err := command.OneOf("sources", f.sources, ofQueries, all); err != nil {
		return err
	}
	if err := command.OneOf("method", f.method, auto, worker, join); err != nil {
		return err
	}
	if f.hops < 1 || f.hops > tables.MaxHops {
		return command.FlagError("max_hops", f.hops, fmt.Sprintf("1 to %d", tables.MaxHops))
	}
	return nil
}

func (f *flags) run(ctx context.Context, e *command.Environment) error {
	if err := f.check(); err != nil {
		return err
	}
	w := e.Workspace
	m, err := w.Require(ctx, workspace.GraphFolder, "go run ./pipelines/preprocess")
	if err != nil {
		return err
	}
	inputs, err := w.Inputs(ctx, workspace.GraphFolder)
	if err != nil {
		return err
	}
	stage := workspace.Stage{
		Workspace: w, Name: "distances", Folder: workspace.DistancesFolder(f.split),
		Configuration: configuration{f.split, f.sources, f.hops}, Inputs: inputs, Vocabulary: m.Vocabulary,
		Command: fmt.Sprintf("go run ./pipelines/distances --split %s --sources %s --max_hops %d", f.split, f.sources, f.hops),
	}
	// Only workers load the graph, and those of a join not even they.
	queries, err := tables.ReadQueryTable(ctx, storage.Join(w.Graph(), graph.QueriesFile(f.split)))
	if err != nil {
		return err
	}
	if len(queries) == 0 {
		return fmt.Errorf("--split %s has no queries: %s is empty; put facts into the dataset's %s.txt and preprocess again", f.split, storage.Join(w.Graph(), graph.QueriesFile(f.split)), f.split)
	}
	done, err := stage.Begin(ctx, e.Force)
	if err != nil {
		return err
	}
	if done {
		e.Say("%s is complete with the same configuration; --force makes it anew", w.Distances(f.split))
		return f.finish(ctx, e)
	}
	sources := distance.Sources(queries)
	if f.sources == all {
		sources = everyEntity(graph.EntitiesOf(m, f.split))
	}
	if err := f.search(ctx, e, m, sources); err != nil {
		stage.Abandon()
		return err
	}
	if err := stage.Publish(ctx, map[string]int64{"sources": int64(len(sources)), "queries": int64(len(queries))}); err != nil {
		return err
	}
	return f.finish(ctx, e)
}

func everyEntity(entities int) []int32 {
	sources := make([]int32, entities)
	for i := range sources {
		sources[i] = int32(i)
	}
	return sources
}

// search runs the Beam pipeline.
func (f *flags) search(ctx context.Context, e *command.Environment, m manifest.Manifest, sources []int32) error {
	params := distance.SearchParams{
		Graph: e.Workspace.Graph(), Split: f.split, Hops: f.hops, Folder: e.Workspace.Distances(f.split),
	}
	var p *beam.Pipeline
	var err error
	if f.joins(m) {
		p, err = BuildJoin(sources, m, params)
	} else {
		p, err = Build(sources, graph.EntitiesOf(m, f.split), params)
	}
	if err != nil {
		return err
	}
	bar := e.Progress.Begin("distances", int64(len(sources)), "sources")
	defer bar.End()
	defer bar.Follow(ctx, "sources_searched")()
	if _, err = e.RunBeam(ctx, p); err != nil {
		return err
	}
	bar.Set(int64(len(sources)))
	return nil
}

// joins tells whether no worker is to hold the graph.
func (f *flags) joins(m manifest.Manifest) bool {
	edges := max(m.Rows["edges"], m.Rows["inference_edges"])
	return f.method == join || f.method == auto && edges > edgesOfWorker
}

// Build makes the Beam pipeline that searches from sources, in increasing order, on workers
// that hold the graph.
func Build(sources []int32, entities int, p distance.SearchParams) (*beam.Pipeline, error) {
	elements, err := distance.EncodeShards(distance.Cut(sources, entities))
	if err != nil {
		return nil, err
	}
	pipeline, s := beam.NewPipelineWithRoot()
	distance.Search(s, beam.CreateList(s, elements), p)
	return pipeline, nil
}

// BuildJoin makes the Beam pipeline that searches by rounds of a join: the manifest is that of
// the graph/ folder.
func BuildJoin(sources []int32, m manifest.Manifest, p distance.SearchParams) (*beam.Pipeline, error) {
	entities := graph.EntitiesOf(m, p.Split)
	shards := distance.Cut(sources, entities)
	elements, err := distance.EncodeShards(shards)
	if err != nil {
		return nil, err
	}
	params := distance.JoinParams{SearchParams: p, Entities: entities, Files: len(shards), PerFile: distance.PerShard(entities)}
	for _, f := range graph.EdgeFiles(m, p.Split) {
		params.Edges = append(params.Edges, distance.EdgeShard{URL: storage.Join(p.Graph, f.Name), SHA256: f.SHA256})
	}
	pipeline, s := beam.NewPipelineWithRoot()
	distance.Join(s, beam.CreateList(s, elements), params)
	return pipeline, nil
}

// finish tells what is there and what comes next.
func (f *flags) finish(ctx context.Context, e *command.Environment) error {
	folder := e.Workspace.Distances(f.split)
	d, err := distance.ReadDistribution(ctx, folder)
	if err != nil {
		return err
	}
	e.Say("")
	e.Say("%s: distance from source to answer of %s queries", f.split, progress.Count(d.Queries))
	for hops := range f.hops + 1 {
		show(e, fmt.Sprint(hops), d, hops > 0)
	}
	show(e, "unreached", d, true)
	if f.split == "train" {
		e.Say("  (training leaves each query's own edge out, so that its answer is farther)")
	}
	e.Say("")
	e.Wrote(folder)
	e.Wrote(storage.Join(folder, distance.DistributionFile))
	switch f.split {
	case "train":
		e.Next("go run ./pipelines/train")
	default:
		e.Next("go run ./pipelines/messages --split "+f.split, "go run ./pipelines/train")
	}
	return nil
}

// show prints one distance and its share.
func show(e *command.Environment, at string, d distance.Distribution, always bool) {
	if n := d.ByDistance[at]; n > 0 || always {
		e.Say("  %9s %12s %6.2f%%", at, progress.Count(n), 100*float64(n)/float64(max(1, d.Queries)))
	}
}
