package score

import (
	"cmp"
	"slices"
)

// best returns the k highest scores, highest first, equal scores by smaller id. heap is scratch
// space of at least k entries.
func best(scores []float32, k int, heap []Candidate) []Candidate {
	heap = heap[:0]
	for entity, score := range scores {
		c := Candidate{Entity: int32(entity), Score: score}
		switch {
		case len(heap) < k:
			heap = append(heap, c)
			up(heap, len(heap)-1)
		case k > 0 && worse(heap[0], c):
			heap[0] = c
			down(heap)
		}
	}
	slices.SortFunc(heap, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Entity, b.Entity))
	})
	return heap
}

// worse orders the heap, whose root is the worst candidate in it.
func worse(a, b Candidate) bool {
	if a.Score != b.Score {
		return a.Score < b.Score
	}
	return a.Entity > b.Entity
}

func up(heap []Candidate, i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !worse(heap[i], heap[parent]) {
			return
		}
		heap[i], heap[parent] = heap[parent], heap[i]
		i = parent
	}
}

func down(heap []Candidate) {
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(heap); child++ {
			if worse(heap[child], heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		heap[i], heap[least] = heap[least], heap[i]
		i = least
	}
}
