package steps

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func TestStrictNeverDrawsKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		name    string
		answer  int32
		known   []int32
		allowed []int32
	}{
		{"known with the answer", 3, []int32{0, 3, 4}, []int32{1, 2, 5, 6}},
		{"known without the answer", 3, []int32{0, 4}, []int32{1, 2, 5, 6}},
		{"the answer before all known", 0, []int32{3, 6}, []int32{1, 2, 4, 5}},
		{"the answer after all known", 6, []int32{0, 3}, []int32{1, 2, 4, 5}},
		{"nothing known", 2, nil, []int32{0, 1, 3, 4, 5, 6}},
		{"one entity left", 2, []int32{0, 1, 2, 3, 5, 6}, []int32{4}},
		{"known repeated", 2, []int32{1, 1, 2, 2, 3}, []int32{0, 4, 5, 6}},
	} {
		s := NewSampler(7, true)
		const draws = 12000
		negatives := make([]int32, draws)
		if err := s.Draw(1, 2, c.answer, c.known, negatives); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		counts := map[int32]float64{}
		for _, e := range negatives {
			counts[e]++
		}
		expected := draws / float64(len(c.allowed))
		for _, e := range c.allowed {
			// Five standard deviations of a binomial count.
			if !(math.Abs(counts[e]-expected) <= 5*math.Sqrt(expected)) {
				t.Errorf("%s: %d drawn %g times, want about %g", c.name, e, counts[e], expected)
			}
			delete(counts, e)
		}
		if len(counts) > 0 {
			t.Errorf("%s: drew what is not allowed: %v", c.name, counts)
		}
	}
}

func TestWithoutStrictAllAreDrawn(t *testing.T) {
	negatives := make([]int32, 1000)
	if err := NewSampler(4, false).Draw(1, 2, 0, []int32{0, 1, 2, 3}, negatives); err != nil {
		t.Fatal(err)
	}
	for e := range int32(4) {
		if !slices.Contains(negatives, e) {
			t.Errorf("entity %d is never drawn", e)
		}
	}
}

// TestDrawAmong draws from a list: as from all where it has all, never what is outside or known, and from all where all
// of it is known.
func TestDrawAmong(t *testing.T) {
	const answer = 3
	known := []int32{0, 3, 4}
	draw := func(among []int32) []int32 {
		negatives := make([]int32, 200)
		if err := NewSampler(7, true).DrawAmong(among, 1, 2, answer, known, negatives); err != nil {
			t.Fatal(err)
		}
		return negatives
	}
	all := make([]int32, 200)
	if err := NewSampler(7, true).Draw(1, 2, answer, known, all); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ among, want []int32 }{
		{[]int32{0, 2, 3, 6}, []int32{2, 6}},
		{[]int32{5}, []int32{5}},
		{[]int32{1, 2, 5}, []int32{1, 2, 5}},
	} {
		drawn := draw(c.among)
		slices.Sort(drawn)
		if got := slices.Compact(drawn); !slices.Equal(got, c.want) {
			t.Errorf("among %v: %v, want %v", c.among, got, c.want)
		}
	}
	for _, among := range [][]int32{{0, 1, 2, 3, 4, 5, 6}, {0, 3, 4}, {3}} {
		if got := draw(among); !slices.Equal(got, all) {
			t.Errorf("among %v: %v, want those of all entities, %v", among, got, all)
		}
	}
}

func TestNoNegativesLeft(t *testing.T) {
	err := NewSampler(3, true).Draw(1, 2, 1, []int32{0, 2}, make([]int32, 4))
	if !errors.Is(err, ErrNoNegatives) {
		t.Errorf("error %v, want ErrNoNegatives", err)
	}
}

func TestDrawDependsOnSeedAndKeyOnly(t *testing.T) {
	draw := func(s *Sampler, seed, key uint64) []int32 {
		negatives := make([]int32, 32)
		if err := s.Draw(seed, key, 5, []int32{5, 9}, negatives); err != nil {
			t.Fatal(err)
		}
		return negatives
	}
	s := NewSampler(1000, true)
	want := draw(s, 1, 2)
	draw(s, 7, 8) // another query between
	if got := draw(s, 1, 2); !slices.Equal(got, want) {
		t.Error("a draw depends on those before it")
	}
	if slices.Equal(draw(s, 1, 3), want) || slices.Equal(draw(s, 2, 2), want) || slices.Equal(draw(s, 2, 1), want) {
		t.Error("another seed or key draws the same")
	}
	// A longer draw begins like a shorter one.
	longer := make([]int32, 64)
	if err := s.Draw(1, 2, 5, []int32{5, 9}, longer); err != nil || !slices.Equal(longer[:32], want) {
		t.Error("the number of draws changes the draws")
	}
}

func TestDrawAllocatesNothing(t *testing.T) {
	s, known, negatives := NewSampler(1000, true), []int32{1, 5, 7}, make([]int32, 64)
	if n := testing.AllocsPerRun(20, func() { _ = s.Draw(1, 2, 5, known, negatives) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
