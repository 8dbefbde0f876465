package ranking

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFiltered(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name        string
		scores      []float32
		answer      int32
		known       []int32
		pessimistic int64
		optimistic  int64
		candidates  int64
	}{
		{"first of all", []float32{3, 1, 2}, 0, nil, 1, 1, 3},
		{"last of all", []float32{3, 1, 2}, 1, nil, 3, 3, 3},
		{"a known answer above is left out", []float32{3, 1, 2}, 2, []int32{0, 2}, 1, 1, 2},
		{"a known answer below is left out", []float32{3, 1, 2}, 2, []int32{1, 2}, 2, 2, 2},
		{"known without the answer itself", []float32{3, 1, 2}, 2, []int32{0}, 1, 1, 2},
		{"ties", []float32{5, 2, 2, 2, 1}, 2, nil, 4, 2, 5},
		{"a tied known answer", []float32{5, 2, 2, 2, 1}, 2, []int32{1, 2}, 3, 2, 4},
		{"all known", []float32{5, 2, 2}, 1, []int32{0, 1, 2}, 1, 1, 1},
		{"known twice counts once", []float32{3, 1, 2}, 2, []int32{0, 0, 2, 2}, 1, 1, 2},
		{"all equal", []float32{0, 0, 0, 0}, 0, []int32{0}, 4, 1, 4},
		{"the answer is not a number", []float32{1, nan, 0, 2}, 1, []int32{1, 3}, 3, 3, 3},
		{"none is a number", []float32{nan, nan, nan}, 1, nil, 3, 3, 3},
		{"another is not a number", []float32{nan, 1, 0}, 1, nil, 2, 2, 3},
		{"a known answer is not a number", []float32{nan, 1, 0}, 1, []int32{0}, 1, 1, 2},
		{"infinities tie", []float32{inf, inf, 0}, 1, nil, 2, 1, 3},
		{"one entity", []float32{1}, 0, []int32{0}, 1, 1, 1},
	} {
		want := Rank{c.pessimistic, c.optimistic, c.candidates}
		if got := Filtered(c.scores, c.answer, c.known); got != want {
			t.Errorf("%s: %+v, want %+v", c.name, got, want)
		}
	}
}

// TestFilteredAgreesWithDefinition compares with a loop that follows the definition.
func TestFilteredAgreesWithDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		scores := make([]float32, 1+random.IntN(12))
		for i := range scores {
			scores[i] = float32(random.IntN(4))
		}
		answer := int32(random.IntN(len(scores)))
		var known []int32
		for e := range scores {
			if random.IntN(3) == 0 {
				known = append(known, int32(e))
			}
		}
		want := Rank{Pessimistic: 1, Optimistic: 1, Candidates: 1}
		for e, score := range scores {
			if int32(e) == answer || slices.Contains(known, int32(e)) {
				continue
			}
			want.Candidates++
			if score >= scores[answer] {
				want.Pessimistic++
			}
			if score > scores[answer] {
				want.Optimistic++
			}
		}
		if got := Filtered(scores, answer, known); got != want {
			t.Fatalf("scores %v, answer %d, known %v: %+v, want %+v", scores, answer, known, got, want)
		}
	}
}

func TestAmong(t *testing.T) {
	t.Parallel()
	nan := float32(math.NaN())
	scores := []float32{5, 2, 2, 1, nan}
	for _, c := range []struct {
		answer    int32
		negatives []int32
		want      Rank
	}{
		{1, nil, Rank{1, 1, 1}},
		{1, []int32{3, 3}, Rank{1, 1, 3}},
		{1, []int32{0, 3, 0}, Rank{3, 3, 4}},
		{1, []int32{2, 0, 2}, Rank{4, 2, 4}},
		{1, []int32{4}, Rank{2, 2, 2}},
		{4, []int32{0, 3}, Rank{3, 3, 3}},
	} {
		if got := Among(scores, c.answer, c.negatives); got != c.want {
			t.Errorf("%d among %v: %+v, want %+v", c.answer, c.negatives, got, c.want)
		}
	}
}
