package train

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tagnet/model/learn"
)

// averageFn is a Beam CombineFn that averages the shards of a round and writes the round's
// checkpoint. The sums of floating-point numbers depend on their order, so that an accumulator is the
// set of shards, whose results lie in files; they are added in the order of their index at the end. It
// returns when the round ended.
type averageFn struct {
	Params Params
	Task   learn.Task
}

// shards is the accumulator: the indices of shards, in ascending order, and when the round began.
type shards struct {
	Indices []int
	Begun   int64
}

func (f *averageFn) CreateAccumulator() shards { return shards{} }

func (f *averageFn) AddInput(a shards, s Shard) shards {
	return f.MergeAccumulators(a, shards{Indices: []int{s.Index}, Begun: s.Begun})
}

// MergeAccumulators returns the union of two sets of shards. A shard that a runner ran twice counts once.
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
	err := learn.Average(context.Background(), f.Params.Run, f.Task, len(a.Indices), time.Unix(0, a.Begun))
	if err != nil {
		return 0, fmt.Errorf("averaging a round of epoch %d: %w", f.Task.Round.Epoch, err)
	}
	return time.Now().UnixNano(), nil
}
