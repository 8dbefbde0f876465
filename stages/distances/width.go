package distances

import (
	"cmp"

	"tagnet/model/budget"
)

// Width is how a worker searches that holds the graph: with so many threads, each of which
// searches so many words of 64 sources at once.
type Width struct{ Threads, Words int }

// Widths are the words of 64 sources that a thread may search at once, the maxRange first.
var Widths = []int{8, 4, 2, 1}

// Widest chooses how a worker searches within a budget of bytes, given what it needs for each of
// Widths: the most sources at once in all threads together. A thread's time hardly depends on how
// many it searches, so among equals it chooses more threads. Where the budget holds nothing it is
// the least there is, of no threads.
func Widest(needs map[int]budget.Need, memory int64, cores int) Width {
	best := Width{0, 1}
	for _, words := range Widths {
		share, err := needs[words].Divide(memory, 0, cores)
		if err != nil {
			continue
		}
		more := cmp.Or(cmp.Compare(share.Threads*words, best.Threads*best.Words), cmp.Compare(share.Threads, best.Threads))
		if more > 0 {
			best = Width{share.Threads, words}
		}
	}
	return best
}
