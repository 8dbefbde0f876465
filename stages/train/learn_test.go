package train

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An interrupt may come before the runner has started the training.
func TestStopBeforeTheTrainingStarts(t *testing.T) {
	t.Parallel()
	for _, early := range []bool{true, false} {
		session := NewSession(nil)
		if early {
			session.Stop()
		}
		ctx, leave := session.join(t.Context())
		if stopped := ctx.Err() != nil; stopped != early {
			t.Errorf("stopped %v, want %v", stopped, early)
		}
		leave()
		session.Close()
	}
}

func TestMergeShards(t *testing.T) {
	t.Parallel()
	f := &averageFn{}
	add := func(a shards, indices ...int) shards {
		for _, i := range indices {
			a = f.AddInput(a, Shard{Index: i, Begun: int64(100 - i)})
		}
		return a
	}
	want := shards{Indices: []int{0, 1, 2, 3}, Begun: 97}
	for name, got := range map[string]shards{
		"in order": add(shards{}, 0, 1, 2, 3),
		"reversed": add(shards{}, 3, 2, 1, 0),
		"twice":    add(shards{}, 1, 3, 0, 1, 2, 3),
		"merged":   f.MergeAccumulators(add(shards{}, 3, 1), add(f.CreateAccumulator(), 2, 0)),
		"empty":    f.MergeAccumulators(f.MergeAccumulators(shards{}, add(shards{}, 2, 0, 3)), f.MergeAccumulators(add(shards{}, 1), shards{})),
	} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, err := f.ExtractOutput(shards{}); err == nil {
		t.Error("a round without checkpoints: no error")
	}
}
