package learn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
)

// Average averages the results of the shards of a round that arrived, and writes the round's checkpoint, unless that
// was done before. It removes their results once the average is written. begun is when the round began.
func Average(ctx context.Context, run Run, t Task, arrived int, begun time.Time) error {
	ctx = run.Lock.Guard(ctx)
	folder := checkpoint.Folder(run.Checkpoints)
	_, err := folder.State(ctx, t.To().Checkpoint)
	if damaged := new(checkpoint.DamagedError); errors.Is(err, fs.ErrNotExist) || errors.As(err, &damaged) {
		var done bool
		if done, err = passed(ctx, folder, t); err == nil && !done {
			err = saveAverage(ctx, folder, run, t, arrived, begun)
		}
	}
	if err != nil {
		return err
	}
	if t.From.Checkpoint != checkpoint.EpochName(t.From.Epoch-1) { // a finished epoch is kept
		if err := folder.Remove(ctx, t.From.Checkpoint); err != nil {
			return err
		}
	}
	for i := range t.Round.Workers {
		results, name := t.result(folder, i)
		if err := results.Remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// saveAverage reads the results of the shards and writes the checkpoint of the round.
func saveAverage(ctx context.Context, folder checkpoint.Folder, run Run, t Task, arrived int, begun time.Time) error {
	if arrived != t.Round.Workers {
		return fmt.Errorf("%d shards arrived, want %d", arrived, t.Round.Workers)
	}
	start, err := folder.Record(ctx, t.From.Checkpoint)
	if err != nil {
		return err
	}
	var sum checkpoint.Partial
	if start.Partial != nil {
		sum = *start.Partial
	}
	var weights, moments steps.Average
	for i := range t.Round.Workers {
		results, name := t.result(folder, i)
		state, err := results.State(ctx, name)
		if err != nil {
			return fmt.Errorf("reading the result of shard %d: %w", i, err)
		}
		shard := state.Record.Partial
		err = errors.Join(weights.Add(state.Weights, shard.Queries), moments.Add(state.Optimizer, shard.Queries))
		if err != nil {
			return err
		}
		sum.Loss += shard.Loss
		sum.Queries += shard.Queries
		sum.LeftOut += shard.LeftOut
		sum.Messages += shard.Messages
	}
	sum.Step = t.To().Batch
	sum.Seconds += time.Since(begun).Seconds()
	r := start
	r.Configuration = run.Configuration // its epochs may be more or fewer than when the start was written
	r.Epoch, r.Step, r.Partial = t.Round.Epoch, t.To().Step, &sum
	r.Loss, r.Messages, r.LearningRate, r.Valid = 0, 0, 0, nil // of the epoch before
	return folder.Save(ctx, r, weights.Mean(), moments.Mean())
}
