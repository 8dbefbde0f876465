package ranking

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// plainly selects by the definition: it sorts all entities and walks down the list.
func plainly(s Selection, scores []float32, source int32, known []int32) []Candidate {
	var all []Candidate
	for entity, score := range scores {
		all = append(all, Candidate{int32(entity), score})
	}
	slices.SortFunc(all, Candidate.compare)
	var listed []Candidate
	taken := 0
	for _, c := range all {
		isKnown := slices.Contains(known, c.Entity)
		switch {
		case s.Candidates != nil && !slices.Contains(s.Candidates, c.Entity):
		case s.Known == LeftOut && (isKnown || c.Entity == source):
		case s.Known == KnownToo && c.Entity == source && !isKnown:
		case taken == s.K:
		default:
			if s.Known != KnownToo || !isKnown {
				taken++
			}
			listed = append(listed, c)
		}
	}
	return listed
}

func TestSelection(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(4, 4))
	some := func(n, share int) []int32 {
		list := []int32{}
		for entity := range int32(n) {
			if random.IntN(share) == 0 {
				list = append(list, entity)
			}
		}
		return list
	}
	var buffer []Candidate
	for range 3000 {
		n := 1 + random.IntN(30)
		scores := make([]float32, n)
		for i := range scores {
			scores[i] = float32(random.IntN(8)) // with ties
		}
		s := Selection{K: random.IntN(n + 3), Known: Known(random.IntN(3))}
		if random.IntN(2) == 0 {
			s.Candidates = some(n, 2)
		}
		source, known := random.Int32N(int32(n)), some(n, 3)
		want := plainly(s, scores, source, known)
		got := s.Top(scores, source, known, buffer)
		buffer = got
		if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" {
			t.Fatalf("%+v of %v, source %d, known %v:\n%s", s, scores, source, known, diff)
		}
	}
}
