package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/model/accelerator"
	"tagnet/model/engine/device"
	"tagnet/model/graph/kg"
	"tagnet/model/learn"
	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/stages/train"
)

// tasksPerJob bounds the Beam graph of a job, in which each task of a training by several workers has
// transforms of its own, all in one chain. More tasks a job save the start of jobs, some seconds each on
// Flink; but Flink's job server serializes the chain by recursion, which overflows Java's default stack at
// 64 tasks and not at 40.
const tasksPerJob = 24

// BuildRounds returns the Beam pipeline of some tasks of a training by several workers.
func BuildRounds(p train.Params, tasks []learn.Task) *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	train.Rounds(s, p, tasks)
	return pipeline
}

// openDevices selects what to compute on, and returns an error if the user's choice cannot be used. With --bundles, and for several workers, auto is the
// CPU: otherwise what a shard computes on, and the weights with it, would depend on the machine that takes it.
func (f *flags) openDevices() error {
	if (f.rounds.Workers > 1 || f.bundles) && f.Device.Mode == device.Auto { // a device needs the edges of the graph
		f.Device = device.Choice{}
	}
	f.together, f.computing = 1, "computing on the CPU"
	if f.Device.Mode != device.CUDA {
		return nil
	}
	if f.rounds.Workers > 1 && f.Device.All {
		f.together = f.rounds.Workers // a machine of a worker's may have as many
	}
	if f.computing = fmt.Sprintf("computing on %v of each worker's machine", f.Device); !command.Local() {
		return nil
	}
	selected, err := accelerator.Select(accelerator.Process, f.Device, f.configuration)
	if err != nil {
		return fmt.Errorf("--device %v: %w", f.Device, err)
	}
	f.together, f.computing = min(f.together, selected.Devices()), selected.String()
	return nil
}

// keys reads the keys of the facts by which batches are made.
func (t *trainer) keys(ctx context.Context) (steps.Keys, error) {
	return steps.ReadKeys(ctx, storage.Join(t.e.Workspace.Graph(), kg.QueriesFile("train")), int(t.facts), t.configuration)
}

// firstJob returns the Beam pipeline with which a training by several workers begins or resumes, for
// --dry_run.
func (t *trainer) firstJob(ctx context.Context) ([]*beam.Pipeline, error) {
	keys, err := t.keys(ctx)
	if err != nil {
		return nil, err
	}
	newest, err := t.folder.Record(ctx, "last")
	if err != nil && !errors.Is(err, checkpoint.ErrNone) {
		return nil, err
	}
	if !t.resume {
		newest = checkpoint.Record{}
	}
	p := t.params("")
	return []*beam.Pipeline{BuildRounds(p, learn.Tasks(p.Run, keys, learn.PositionAt(newest), tasksPerJob))}, nil
}

// runRounds runs the Beam pipelines of a training by several workers, one after the other.
func (t *trainer) runRounds(ctx context.Context, p train.Params) error {
	keys, err := t.keys(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = train.Forget() }() // the training ended, with an error that says more or without
	t.e.Progress.Print("%s: %d workers, rounds of %d steps each", t.computing, t.rounds.Workers, t.rounds.LocalSteps)
	at, err := train.Open(ctx, p, !command.Elsewhere())
	if err != nil {
		return err
	}
	for {
		tasks := learn.Tasks(p.Run, keys, at, tasksPerJob)
		if len(tasks) == 0 {
			return learn.Close(ctx, p.Run)
		}
		if err := t.e.RunBeam(ctx, BuildRounds(p, tasks)); err != nil {
			return err
		}
		at = tasks[len(tasks)-1].To()
	}
}
