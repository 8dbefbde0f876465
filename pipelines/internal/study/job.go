package study

import (
	"context"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage/lock"
	"tagnet/model/budget"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
)

// job makes the folder of an output by a Beam pipeline over sources. Its memory is divided before: the budget may be
// too small, and then nothing of what --force replaces is removed.
type job struct {
	output  workspace.Output
	memory  int64 // MiB
	sources int64
	loads   []command.Load
	queries int64 // of the split
	// The progress bar counts up to total, in a unit, by a counter of the workers.
	total         int64
	unit, counter string
	build         func(held lock.Lock) *beam.Pipeline
}

// run makes the folder, unless it is complete, and reports whether it did.
func (j *job) run(ctx context.Context, e *command.Environment) (made bool, err error) {
	j.output.Ready = e.Ready(command.Work{
		Jobs:   func() ([]*beam.Pipeline, error) { return []*beam.Pipeline{j.build(lock.Lock{})}, nil },
		Memory: j.memory, Count: j.sources, Unit: "sources", Loads: j.loads,
	})
	// From here on files are written.
	made, err = e.MakeFolder(ctx, &j.output, func() (map[string]int64, error) {
		defer budget.Limit(j.memory * budget.MiB)()
		bar := e.Progress.Begin(j.output.Name, j.total, j.unit)
		defer bar.End()
		defer bar.Follow(ctx, j.counter)()
		if err := e.RunBeam(ctx, j.build(j.output.Lock())); err != nil {
			return nil, err
		}
		bar.Set(j.total)
		return map[string]int64{"sources": j.sources, "queries": j.queries}, nil
	})
	if !made && err == nil {
		e.Say("%s is complete with the same configuration; --force overwrites it", e.Workspace.Path(j.output.Folder))
	}
	return made, err
}
