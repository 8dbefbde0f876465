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
	return cmp.Or(cmp.Compare(s.Score, r.Score), r.Fact.compare(&s.Fact))
}

// Best keeps the facts with the highest scores.
type Best struct {
	Most  int
	Facts []Ranked // a heap, the last one first
}

// Len, Less, Swap, Push and Pop make Best a heap.
func (b *Best) Len() int           { return len(b.Facts) }
func (b *Best) Less(i, j int) bool { return b.Facts[i].before(&b.Facts[j]) > 0 }
func (b *Best) Swap(i, j int)      { b.Facts[i], b.Facts[j] = b.Facts[j], b.Facts[i] }
func (b *Best) Push(x any)         { b.Facts = append(b.Facts, x.(Ranked)) }
func (b *Best) Pop() any {
	last := b.Facts[len(b.Facts)-1]
	b.Facts = b.Facts[:len(b.Facts)-1]
	return last
}

// Add offers a fact.
func (b *Best) Add(r Ranked) {
	switch {
	case len(b.Facts) < b.Most:
		heap.Push(b, r)
	case b.Most > 0 && r.before(&b.Facts[0]) < 0:
		b.Facts[0] = r
		heap.Fix(b, 0)
	}
}

// Sorted returns the list in order.
func (b *Best) Sorted() []Ranked {
	sorted := slices.Clone(b.Facts)
	slices.SortFunc(sorted, func(r, s Ranked) int { return r.before(&s) })
	return sorted
}
