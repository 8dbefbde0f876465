package distances

import (
	"context"
	"errors"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/model/budget"
	"tagnet/pipelines/internal/command"
	"tagnet/stages/distances"
)

// search searches from sources, in increasing order, with perTable of them in each table.
func (f *flags) search(ctx context.Context, e *command.Environment, sources []int32, perTable int, params distances.SearchParams) error {
	defer budget.Limit(f.memory * budget.MiB)()
	p, err := Build(sources, perTable, params)
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

// Build returns the Beam pipeline that searches from sources, in increasing order, with perTable of them in each table.
func Build(sources []int32, perTable int, p distances.SearchParams) (*beam.Pipeline, error) {
	if len(sources) == 0 {
		return nil, errors.New("there are no sources to search from")
	}
	pipeline, s := beam.NewPipelineWithRoot()
	distances.Search(s, beam.CreateList(s, distances.Shards(sources, perTable)), p)
	return pipeline, nil
}
