package learn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"tagnet/model/checkpoint"
	"tagnet/model/optimizer"
)

// averageFn is a Beam CombineFn that averages the shards of a round and writes the round's
// checkpoint. The sums of floating-point numbers depend on their order, so that an accumulator is the
// set of shards, whose results lie in files; they are added in the order of their index at the end. It
// returns when the round ended.
type averageFn struct {
	Params Params
	Task   Task
}

// shards is the accumulator: the indices of shards, in ascending order, and when the round began.
type shards struct {
	Indices []int
	Begun   int64
}

// CreateAccumulator returns no shards.
func (f *averageFn) CreateAccumulator() shards { return shards{} }

// AddInput adds a shard.
func (f *averageFn) AddInput(a shards, s Shard) shards {
	return f.MergeAccumulators(a, shards{Indices: []int{s.Index}, Begun: s.Begun})
}

// MergeAccumulators returns the union of two sets of shards. A shard that a runner ran twice counts
// once.
func (f *averageFn) MergeAccumulators(a, b shards) shards {
	union := shards{Indices: slices.Concat(a.Indices, b.Indices), Begun: a.Begun}
	slices.Sort(union.Indices)
	union.Indices = slices.Compact(union.Indices)
	if a.Begun == 0 || b.Begun != 0 && b.Begun < a.Begun {
		union.Begun = b.Begun
	}
	return union
}

// ExtractOutput averages the shards, unless that was done before, and removes their results once the
// average is written.
func (f *averageFn) ExtractOutput(a shards) (int64, error) {
	if err := f.average(f.Params.Run.Lock.Guard(context.Background()), a); err != nil {
		return 0, fmt.Errorf("averaging a round of epoch %d: %w", f.Task.Round.Epoch, err)
	}
	return time.Now().UnixNano(), nil
}

func (f *averageFn) average(ctx context.Context, a shards) error {
	folder, t := checkpoint.Folder(f.Params.Run.Checkpoints), f.Task
	_, err := folder.State(ctx, t.To().Checkpoint)
	if damaged := new(checkpoint.DamagedError); errors.Is(err, fs.ErrNotExist) || errors.As(err, &damaged) {
		var done bool
		if done, err = passed(ctx, folder, t); err == nil && !done {
			err = f.saveAverage(ctx, folder, a)
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
		own, name := t.result(folder, i)
		if err := own.Remove(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// saveAverage reads the results of the shards and writes the checkpoint of the round.
func (f *averageFn) saveAverage(ctx context.Context, folder checkpoint.Folder, a shards) error {
	t := f.Task
	if len(a.Indices) != t.Round.Workers {
		return fmt.Errorf("%d shards arrived, want %d", len(a.Indices), t.Round.Workers)
	}
	start, err := folder.Record(ctx, t.From.Checkpoint)
	if err != nil {
		return err
	}
	var sum checkpoint.Partial
	if start.Partial != nil {
		sum = *start.Partial
	}
	var weights, moments optimizer.Average
	for i := range t.Round.Workers {
		own, name := t.result(folder, i)
		state, err := own.State(ctx, name)
		if err != nil {
			return fmt.Errorf("reading the result of shard %d: %w", i, err)
		}
		shard := state.Record.Partial
		err = errors.Join(weights.Add(tensors(state.Weights), shard.Queries), moments.Add(tensors(state.Optimizer), shard.Queries))
		if err != nil {
			return err
		}
		sum.Loss += shard.Loss
		sum.Queries += shard.Queries
		sum.Messages += shard.Messages
	}
	sum.Step = t.To().Batch
	sum.Seconds += time.Since(time.Unix(0, a.Begun)).Seconds()
	r := start
	r.Configuration = f.Params.Run.Configuration // its epochs may be more or fewer than when the start was written
	r.Epoch, r.Step, r.Partial = t.Round.Epoch, t.To().Step, &sum
	r.Loss, r.Messages, r.LearningRate, r.Valid = 0, 0, 0, nil // of the epoch before
	return folder.Save(ctx, r, checkpoint.Tensors(weights.Mean()), checkpoint.Tensors(moments.Mean()))
}
