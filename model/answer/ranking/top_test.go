package ranking

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTopIsTheFrontOfASort(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	var buffer []Candidate
	for range 300 {
		scores := make([]float32, rng.IntN(60)+1)
		want := make([]Candidate, len(scores))
		for i := range scores {
			scores[i] = float32(rng.IntN(9)) // ties
			want[i] = Candidate{int32(i), scores[i]}
		}
		slices.SortStableFunc(want, func(a, b Candidate) int { return int(b.Score - a.Score) })
		k := rng.IntN(len(scores) + 3)
		buffer = Top(scores, k, buffer)
		if diff := cmp.Diff(want[:min(k, len(scores))], buffer); diff != "" {
			t.Fatalf("top %d of %v (-want +got):\n%s", k, scores, diff)
		}
	}
}

func TestTopAllocatesNothingWithABuffer(t *testing.T) {
	scores := make([]float32, 1000)
	for i := range scores {
		scores[i] = float32(i % 37)
	}
	buffer := make([]Candidate, 0, 10)
	if n := testing.AllocsPerRun(20, func() { Top(scores, 10, buffer) }); n > 1 { // the heap's slice header
		t.Errorf("%v allocations, want at most 1", n)
	}
}
