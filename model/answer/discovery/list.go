package discovery

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"tagnet/formats/storage/externalsort"
	"tagnet/model/answer/probability"
	"tagnet/model/graph"
)

// Entry is a fact of a list.
type Entry struct {
	probability.Observation
	// Estimate is zero without an Estimator.
	probability.Estimate
}

func (e *Entry) lower() float32 { return min(e.Tails.Score, e.Heads.Score) }

// Compare orders a list: the surest first, then by the lower one of both scores, then by head, relation and tail.
func (e *Entry) Compare(o *Entry) int {
	return cmp.Or(e.Estimate.Compare(o.Estimate), cmp.Compare(o.lower(), e.lower()), e.Fact.Compare(o.Fact))
}

// Record returns the entry as a record that sorts in the order of Compare.
func (e *Entry) Record() externalsort.RankedRow {
	p := -1.0 // behind every one with a claim
	if e.HasProbability {
		p = e.Probability
	}
	r := externalsort.RankedRow{
		4: int32(^ascending32(e.lower())) ^ math.MinInt32, 5: e.Head, 6: e.Relation, 7: e.Tail,
		8: int32(math.Float32bits(e.Tails.Score)), 9: int32(e.Tails.Rank), 10: int32(math.Float32bits(e.Heads.Score)), 11: int32(e.Heads.Rank), 12: e.Hops,
	}
	for i, number := range [2]float64{p, e.LogOdds} {
		bits := ^ascending64(number)
		r[2*i], r[2*i+1] = int32(uint32(bits>>32))^math.MinInt32, int32(uint32(bits))^math.MinInt32
	}
	return r
}

// EntryOf returns the entry of a record.
func EntryOf(r externalsort.RankedRow) Entry {
	side := func(score, rank int32) probability.Side {
		return probability.Side{Score: math.Float32frombits(uint32(score)), Rank: int64(rank)}
	}
	e := Entry{Observation: probability.Observation{
		Fact: graph.Fact{Head: r[5], Relation: r[6], Tail: r[7]}, Tails: side(r[8], r[9]), Heads: side(r[10], r[11]), Hops: r[12],
	}}
	var numbers [2]float64
	for i := range numbers {
		high, low := uint32(r[2*i]^math.MinInt32), uint32(r[2*i+1]^math.MinInt32)
		numbers[i] = descended64(^(uint64(high)<<32 | uint64(low)))
	}
	e.LogOdds = numbers[1]
	if e.HasProbability = numbers[0] >= 0; e.HasProbability {
		e.Probability = numbers[0]
	}
	return e
}

// ascending64 returns bits that are ordered as numbers are; descended64 is its inverse.
func ascending64(number float64) uint64 {
	bits := math.Float64bits(number + 0) // of both zeros the positive one
	if bits>>63 == 1 {
		return ^bits
	}
	return bits | 1<<63
}

func descended64(bits uint64) float64 {
	if bits>>63 == 1 {
		return math.Float64frombits(bits &^ (1 << 63))
	}
	return math.Float64frombits(^bits)
}

// ascending32 returns bits that are ordered as scores are.
func ascending32(number float32) uint32 {
	bits := math.Float32bits(number + 0)
	if bits>>31 == 1 {
		return ^bits
	}
	return bits | 1<<31
}

// Best keeps the first entries of a list.
type Best struct {
	// Most is the largest number of entries kept, Entries the entries so far, in heap order.
	Most    int
	Entries []Entry
}

// Add offers an entry.
func (b *Best) Add(e Entry) {
	h := (*lastFirst)(&b.Entries)
	switch {
	case len(b.Entries) < b.Most:
		heap.Push(h, e)
	case b.Most > 0 && e.Compare(&b.Entries[0]) < 0:
		b.Entries[0] = e
		heap.Fix(h, 0)
	}
}

// Sort sorts the entries as a list. None may be added afterwards.
func (b *Best) Sort() {
	slices.SortFunc(b.Entries, func(e, o Entry) int { return e.Compare(&o) })
}

// lastFirst is a heap of entries, the last one of the list first.
type lastFirst []Entry

func (h lastFirst) Len() int           { return len(h) }
func (h lastFirst) Less(i, j int) bool { return h[i].Compare(&h[j]) > 0 }
func (h lastFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *lastFirst) Push(x any)        { *h = append(*h, x.(Entry)) }
func (h *lastFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
