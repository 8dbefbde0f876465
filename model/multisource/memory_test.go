package multisource

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"tagnet/model/kernel"
)

// TestMemory holds the formula to what is allocated.
func TestMemory(t *testing.T) {
	g := randomGraph(t, rand.New(rand.NewPCG(1, 2)), 100_000, 300_000)
	k := kernel.Available()[len(kernel.Available())-1]
	sources := make([]int32, 64)
	for i := range sources {
		sources[i] = int32(1000 * i)
	}
	for _, words := range k.RowWidths() {
		for _, gather := range []Gather{{}, {Distances: true}, {Levels: true}, both} {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			s := NewSearcher(g, k, words, gather)
			if err := s.Search(sources, 14); err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			took, formula := int64(after.HeapAlloc)-int64(before.HeapAlloc), Memory(g.Entities, words, gather)
			if took > formula+64<<10 || took < formula*9/10-700<<10 {
				t.Errorf("%d words, %+v: took %d bytes, by the formula %d", words, gather, took, formula)
			}
			runtime.KeepAlive(s)
		}
	}
}

func TestWords(t *testing.T) {
	widths := []int{1, 4, 8}
	for _, test := range []struct {
		entities, sources int
		limit             int64
		want              int
	}{
		{1000, 1, 1 << 30, 1}, {1000, 64, 1 << 30, 1}, {1000, 65, 1 << 30, 4}, {1000, 256, 1 << 30, 4}, {1000, 257, 1 << 30, 8},
		{1000, 5000, 1 << 30, 8}, {1 << 20, 5000, 256 << 20, 1}, {1 << 18, 5000, 256 << 20, 8}, {1 << 19, 5000, 256 << 20, 4}, {1 << 30, 5000, 1, 1},
		{40_000, 5000, 256 << 20, 8}, {60_000, 5000, 256 << 20, 4}, {100_000, 5000, 256 << 20, 8}, // half the width stays in the cache, or does not either
	} {
		if got := Words(widths, test.entities, test.sources, both, test.limit); got != test.want {
			t.Errorf("%+v: %d words", test, got)
		}
	}
}
