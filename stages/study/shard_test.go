package study

import (
	"slices"
	"testing"
)

func TestShards(t *testing.T) {
	sources := make([]int32, 2000)
	for i := range sources {
		sources[i] = int32(3 * i)
	}
	for _, test := range []struct {
		entities int
		edges    int64
		shards   int
	}{
		{6000, 20_000, 1}, {40_943, 173_670, 4}, {14_541, 544_230, 4}, {1 << 28, 1 << 32, 4}, {1, 0, 1}, {1 << 18, 100, 4},
	} {
		shards := Shards(sources, SourcesPerShard(test.entities, test.edges))
		if len(shards) != test.shards {
			t.Fatalf("%+v: %d shards", test, len(shards))
		}
		var all []int32
		for i, s := range shards {
			if s.Number != i || s.Of != test.shards {
				t.Errorf("shard %d of %d, want %d of %d", s.Number, s.Of, i, test.shards)
			}
			all = append(all, s.Sources...)
		}
		if !slices.Equal(all, sources) {
			t.Errorf("%+v: %v", test, all)
		}
	}
	if len(Shards(nil, 5)) != 0 {
		t.Error("no sources make a shard")
	}
}
