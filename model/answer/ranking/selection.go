package ranking

import (
	"cmp"
	"container/heap"
	"slices"
)

// Selection says which entities are listed as the answers of a query. Its zero value lists none.
type Selection struct {
	// K is the most answers that are listed; KnownToo does not count known answers.
	K int
	// Candidates are the only entities that are listed, ascending; nil allows all.
	Candidates []int32
	Known      Known
	// Ranks is set if the filtered ranks of listed answers are wanted, too.
	Ranks bool
}

// Known says what becomes of known answers, and of the source of the query.
type Known int

const (
	// Counted treats known answers and the source as any entity.
	Counted Known = iota
	// KnownToo lists the K best new answers, and between them the known answers that rank before the last of these. The
	// source is listed only if it is a known answer.
	KnownToo
	// LeftOut lists new answers only. The source is none.
	LeftOut
)

// Plain reports whether the selection lists the entities with the highest scores, whatever they are.
func (s Selection) Plain() bool { return s.Known == Counted && s.Candidates == nil }

// Top returns the entities that are listed, highest score first, equal scores by smaller id. scores has an
// entry per entity, known lists the query's known answers in ascending order. The result lies in buffer, which
// grows if it is too small.
func (s Selection) Top(scores []float32, source int32, known []int32, buffer []Candidate) []Candidate {
	if s.Plain() {
		return Top(scores, s.K, buffer)
	}
	best := worstFirst(buffer[:0])
	h := &best
	// The heap holds the K best, the worst on top.
	offer := func(entity int32) {
		full := len(best) == s.K
		if full && (s.K <= 0 || !(scores[entity] > best[0].Score)) {
			return // a later entity with the score of the worst one ranks behind it
		}
		if s.Known != Counted && (entity == source || has(known, entity)) {
			return
		}
		if full {
			best[0] = Candidate{entity, scores[entity]}
			heap.Fix(h, 0)
		} else if best = append(best, Candidate{entity, scores[entity]}); len(best) == s.K {
			heap.Init(h)
		}
	}
	if s.Candidates == nil {
		for entity := range scores {
			offer(int32(entity))
		}
	}
	for _, entity := range s.Candidates {
		offer(entity)
	}
	// Known answers did not take part; those better than the last listed one are listed beside.
	if s.Known == KnownToo && s.K > 0 {
		full := len(best) == s.K
		last := Candidate{}
		if full {
			last = best[0]
		}
		for _, entity := range known {
			c := Candidate{entity, scores[entity]}
			if (!full || c.compare(last) < 0) && (s.Candidates == nil || has(s.Candidates, entity)) {
				best = append(best, c)
			}
		}
	}
	slices.SortFunc(best, Candidate.compare)
	return best
}

// compare orders candidates: highest score first, equal scores by smaller id.
func (c Candidate) compare(other Candidate) int {
	return cmp.Or(cmp.Compare(other.Score, c.Score), cmp.Compare(c.Entity, other.Entity))
}

func has(sorted []int32, entity int32) bool {
	_, found := slices.BinarySearch(sorted, entity)
	return found
}
