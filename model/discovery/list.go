package discovery

import (
	"cmp"
	"container/heap"
	"slices"
)

// Ranked is a fact of a list, with the number that it is ordered by.
type Ranked struct {
	Fact
	// Score is the log odds of the model, or without one Fact.Lower.
	Score float64
}

// before orders a list: highest score first, then by head, relation and tail.
func (r *Ranked) before(s *Ranked) int {
	return cmp.Or(cmp.Compare(s.Score, r.Score), r.Compare(s.Fact.Fact))
}

// Best keeps the facts with the highest scores.
type Best struct {
	// Most is the number that are kept, Facts those so far, in no order of use.
	Most  int
	Facts []Ranked
}

// Add offers a fact.
func (b *Best) Add(r Ranked) {
	h := (*lastFirst)(&b.Facts)
	switch {
	case len(b.Facts) < b.Most:
		heap.Push(h, r)
	case b.Most > 0 && r.before(&b.Facts[0]) < 0:
		b.Facts[0] = r
		heap.Fix(h, 0)
	}
}

// lastFirst is a heap of facts, the last one of the list first.
type lastFirst []Ranked

func (h lastFirst) Len() int           { return len(h) }
func (h lastFirst) Less(i, j int) bool { return h[i].before(&h[j]) > 0 }
func (h lastFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *lastFirst) Push(x any)        { *h = append(*h, x.(Ranked)) }
func (h *lastFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// Sorted returns the list in order.
func (b *Best) Sorted() []Ranked {
	sorted := slices.Clone(b.Facts)
	slices.SortFunc(sorted, func(r, s Ranked) int { return r.before(&s) })
	return sorted
}
