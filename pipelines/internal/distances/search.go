package distances

import (
	"context"
	"errors"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/model/budget"
	"tagnet/model/joinsearch"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
	"tagnet/stages/distances"
)

// search searches from sources, in increasing order, by the chosen method.
func (f *flags) search(ctx context.Context, e *command.Environment, sources []int32, c choice) error {
	if c.why != "" {
		e.Say("%s", c.why)
	}
	defer budget.Limit(f.memory * budget.MiB)()
	if c.method == join {
		return searchByJoin(ctx, e, sources, c.params, c.perPipeline)
	}
	p, err := Build(sources, c.params.Layout.PerTable, c.params.SearchParams)
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

// jobs returns the pipelines of a search. Of those of a join that differ only in their sources it returns
// the first.
func (f *flags) jobs(sources []int32, c choice) ([]*beam.Pipeline, error) {
	if c.method != join {
		p, err := Build(sources, c.params.Layout.PerTable, c.params.SearchParams)
		return []*beam.Pipeline{p}, err
	}
	blocks := c.params.SearchBlocks(sources)
	tables, err := BuildTables(sources, c.params)
	return []*beam.Pipeline{BuildJoin(blocks[:min(c.perPipeline, len(blocks))], c.params), tables}, err
}

// searchByJoin runs the rounds of the join, one pipeline for every perPipeline blocks of sources,
// and then makes the tables.
func searchByJoin(ctx context.Context, e *command.Environment, sources []int32, params distances.JoinParams, perPipeline int) error {
	rounds := int64(params.Hops + 1)
	bar := e.Progress.Begin("distances", int64(len(sources))*rounds, "rounds of a source")
	defer bar.End()
	blocks := params.SearchBlocks(sources)
	for from := 0; from < len(blocks); from += perPipeline {
		to := min(from+perPipeline, len(blocks))
		done := int64(from*params.Layout.Words*joinsearch.SourcesPerWord) * rounds
		stop := bar.FollowFrom(ctx, "source_rounds", done)
		_, err := e.RunBeam(ctx, BuildJoin(blocks[from:to], params))
		stop()
		if err != nil {
			return err
		}
	}
	p, err := BuildTables(sources, params)
	if err != nil {
		return err
	}
	if _, err := e.RunBeam(ctx, p); err != nil {
		return err
	}
	bar.Set(int64(len(sources)) * rounds)
	return storage.RemoveAll(params.Lock.Guard(ctx), storage.Join(params.Folder, distances.SpillFolder))
}

// errNoSources is the error of Build and BuildTables for an empty list of sources.
var errNoSources = errors.New("there are no sources to search from")

// Build returns the Beam pipeline of the method worker: it searches from sources, in increasing
// order, on workers that hold the graph, with perTable of them in each table.
func Build(sources []int32, perTable int, p distances.SearchParams) (*beam.Pipeline, error) {
	if len(sources) == 0 {
		return nil, errNoSources
	}
	pipeline, s := beam.NewPipelineWithRoot()
	distances.Search(s, beam.CreateList(s, distances.Shards(sources, perTable)), p)
	return pipeline, nil
}

// BuildJoin returns the Beam pipeline of the method join: it searches from some blocks of sources.
func BuildJoin(blocks []distances.Shard, p distances.JoinParams) *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	distances.Join(s, beam.CreateList(s, blocks), p)
	return pipeline
}

// BuildTables returns the Beam pipeline that makes tables when the pipelines of BuildJoin have
// searched from all blocks.
func BuildTables(sources []int32, p distances.JoinParams) (*beam.Pipeline, error) {
	if len(sources) == 0 {
		return nil, errNoSources
	}
	pipeline, s := beam.NewPipelineWithRoot()
	distances.Tables(s, beam.CreateList(s, distances.Shards(sources, p.Layout.PerTable)), p)
	return pipeline, nil
}

// Params returns the parameters of a join over the graph of a split, except those that Plan
// chooses. m is the manifest of the graph/ folder.
func Params(m manifest.Manifest, sources int, p distances.SearchParams) distances.JoinParams {
	entities := kg.EntitiesOf(m, p.Split)
	params := distances.JoinParams{
		SearchParams: p,
		Layout:       joinsearch.Layout{Entities: entities, Sources: sources, PerTable: distances.SourcesPerShard(entities, kg.EdgesOf(m, p.Split))},
	}
	for _, f := range kg.EdgeFiles(m, p.Split) {
		params.Layout.Edges = append(params.Layout.Edges, joinsearch.EdgeShard{URL: storage.Join(p.Graph, f.Name), SHA256: f.SHA256})
	}
	return params
}
