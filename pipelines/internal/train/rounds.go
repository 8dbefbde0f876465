package train

import (
	"context"
	"errors"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
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

// batchKeys reads the keys of the facts by which batches are made.
func (p *plan) batchKeys(ctx context.Context) (steps.Keys, error) {
	return steps.ReadKeys(ctx, storage.Join(p.e.Workspace.Graph(), kg.QueriesFile("train")), int(p.facts), p.Configuration)
}

// firstJob returns the Beam pipeline with which a training begins or resumes, for --plan and --dry_run.
func (p *plan) firstJob(ctx context.Context) ([]*beam.Pipeline, error) {
	params := p.params("", lock.Lock{})
	if p.Workers <= 1 {
		return []*beam.Pipeline{command.BeamPipeline(train.Learn, params)}, nil
	}
	keys, err := p.batchKeys(ctx)
	if err != nil {
		return nil, err
	}
	newest, err := p.folder.Record(ctx, "last")
	if err != nil && !errors.Is(err, checkpoint.ErrNone) {
		return nil, err
	}
	if !p.resume {
		newest = checkpoint.Record{}
	}
	return []*beam.Pipeline{BuildRounds(params, learn.Tasks(params.Run, keys, learn.PositionAt(newest), tasksPerJob))}, nil
}

// runRounds runs the Beam pipelines of a training by several workers, one after the other.
func (t *training) runRounds(ctx context.Context, p train.Params) error {
	keys, err := t.batchKeys(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = train.Forget() }() // the training ended, with an error that says more or without
	t.e.Progress.Print("%s: %d workers, rounds of %d steps each", t.computing, t.Workers, t.LocalSteps)
	at, err := train.Open(ctx, p, !command.Elsewhere())
	if err != nil {
		return err
	}
	for {
		tasks := learn.Tasks(p.Run, keys, at, tasksPerJob)
		if len(tasks) == 0 {
			return learn.RemoveRounds(ctx, p.Run)
		}
		if err := t.e.RunBeam(ctx, BuildRounds(p, tasks)); err != nil {
			return err
		}
		at = tasks[len(tasks)-1].To()
	}
}
