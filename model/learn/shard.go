package learn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"tagnet/model/weights/checkpoint"
)

// Worker trains shards of the rounds of a training, one at a time, and reuses its buffers.
type Worker struct {
	*learner
	failed error // of the last shard
}

// NewWorker returns a worker for the rounds of a run.
func NewWorker(run Run, data Data) (*Worker, error) {
	l := newLearner(run, data, nil)
	if err := l.initialize(); err != nil {
		return nil, err
	}
	if err := l.makeTrainer(); err != nil {
		l.device.Discard(err)
		return nil, err
	}
	return &Worker{learner: l}, nil
}

// Close frees what the worker holds, on its device too. The device stays open, unless it was lost.
func (w *Worker) Close() error {
	err := w.freeTrainers()
	w.device.Discard(w.failed)
	return err
}

// Train makes the steps of a shard from the checkpoint of the task, and writes its result. It does nothing if the
// result exists, or the training has passed the task. When ctx is canceled it returns the cause and writes nothing. The
// run is NewWorker's, except for its folder, its lock and its number of epochs. Train calls trained with the number of
// queries that were trained since the last call, and the sum of their losses. After another error than ctx's a worker
// on a device is of no use: Close it.
func (w *Worker) Train(ctx context.Context, run Run, t Task, shard int, trained func(p Progress, queries int64, loss float64)) error {
	w.Run, w.folder = run, checkpoint.Folder(run.Checkpoints)
	w.failed = w.trainShard(run.Lock.Guard(ctx), t, shard, func(queries int64, loss float64) { trained(w.progress(0), queries, loss) })
	return w.failed
}

// trainShard implements Train.
func (l *learner) trainShard(ctx context.Context, t Task, shard int, trained func(queries int64, loss float64)) error {
	l.epoch = t.Round.Epoch
	results, name := t.result(l.folder, shard)
	result, err := results.State(ctx, name)
	damaged := new(checkpoint.DamagedError)
	switch {
	case err == nil && l.sameRun(result.Record) == nil:
		trained(result.Record.Partial.Queries, result.Record.Partial.Loss)
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.As(err, &damaged):
		return err
	}
	done, err := l.start(ctx, t)
	if done || err != nil {
		return err
	}
	if err := l.makeSteps(ctx, t.Round.Shard(shard), trained); err != nil {
		return err
	}
	r, err := l.newRecord()
	if err != nil {
		return err
	}
	r.Partial = &l.partial
	weights, state := l.stored()
	if err := results.Save(context.WithoutCancel(ctx), r, weights, state); err != nil {
		return fmt.Errorf("saving the result of a round: %w", err)
	}
	return nil
}

// start restores the checkpoint from which a round starts. It returns true if the training is farther
// than the round.
func (l *learner) start(ctx context.Context, t Task) (done bool, err error) {
	state, err := l.folder.State(ctx, t.From.Checkpoint)
	if missing := errors.Is(err, fs.ErrNotExist); missing || t.From.Batch == 0 { // the checkpoint of an epoch is kept
		done, failed := passed(ctx, l.folder, t)
		if failed != nil || done {
			return done, failed
		}
		if missing {
			return false, fmt.Errorf("reading %s of %s, from which a round starts: %w; every worker must see this folder", t.From.Checkpoint, l.folder, err)
		}
	}
	if err != nil {
		return false, err
	}
	if err := l.sameRun(state.Record); err != nil {
		return false, err
	}
	if err := l.restore(state); err != nil {
		return false, err
	}
	l.epoch = t.Round.Epoch
	return false, nil
}

// makeSteps makes the steps of some batches of the epoch.
func (l *learner) makeSteps(ctx context.Context, indices []int, trained func(queries int64, loss float64)) error {
	l.partial = checkpoint.Partial{}
	l.solver.LearningRate = l.learningRate()
	l.steps, l.queries = l.source.begin(l.epoch)
	for i, index := range indices {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		before := l.partial
		next := l.steps
		if i+1 < len(indices) {
			next = indices[i+1]
		}
		if err := l.trainBatch(index, next); err != nil {
			return err
		}
		trained(l.partial.Queries-before.Queries, l.partial.Loss-before.Loss)
	}
	return nil
}
