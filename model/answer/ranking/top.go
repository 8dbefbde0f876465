package ranking

import (
	"container/heap"
	"slices"
)

// Candidate is an entity with the score that a model gives it as the answer of a query.
type Candidate struct {
	Entity int32
	// Score is a logit.
	Score float32
}

// Top returns the k candidates with the highest scores, highest first, equal scores by smaller id. scores
// has an entry per entity, none a NaN; the result lies in buffer, which grows if it has less than k entries.
func Top(scores []float32, k int, buffer []Candidate) []Candidate {
	best := worstFirst(buffer[:0])
	k = max(0, min(k, len(scores)))
	for entity, score := range scores[:k] {
		best = append(best, Candidate{int32(entity), score})
	}
	h := &best
	heap.Init(h)
	if k > 0 {
		for entity, score := range scores[k:] {
			// A later entity with the score of the worst one does not replace it: its id is larger.
			if score > best[0].Score {
				best[0] = Candidate{int32(k + entity), score}
				heap.Fix(h, 0)
			}
		}
	}
	slices.SortFunc(best, Candidate.compare)
	return best
}

// worstFirst is a heap of candidates whose root is the worst of them. It never pushes or pops.
type worstFirst []Candidate

func (h worstFirst) Len() int      { return len(h) }
func (h worstFirst) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h worstFirst) Push(any)      {}
func (h worstFirst) Pop() any      { return nil }
func (h worstFirst) Less(i, j int) bool {
	if h[i].Score != h[j].Score {
		return h[i].Score < h[j].Score
	}
	return h[i].Entity > h[j].Entity
}
