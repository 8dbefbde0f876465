package ranking

import (
	"maps"
	"slices"
)

// Metrics are the mean reciprocal rank, the shares of ranks up to 1, 3 and 10, and the mean rank. They are zero
// without ranks.
type Metrics struct {
	MRR      float64 `json:"mrr"`
	Hits1    float64 `json:"hits@1"`
	Hits3    float64 `json:"hits@3"`
	Hits10   float64 `json:"hits@10"`
	MeanRank float64 `json:"mean_rank"`
}

// Tally counts how often each rank occurred. The key is twice the rank, since mean ranks may be halves. Counts do not
// depend on the order in which ranks arrive, and so metrics do not either.
type Tally map[int64]int64

// Metrics returns the metrics of a tally, summed in the order of ranks so that equal tallies give equal bits.
func (t Tally) Metrics() Metrics {
	var m Metrics
	var total, doubled, hits1, hits3, hits10 int64
	for _, key := range slices.Sorted(maps.Keys(t)) {
		count := t[key]
		total += count
		doubled += key * count
		m.MRR += float64(count) * 2 / float64(key)
		if key <= 2*1 {
			hits1 += count
		}
		if key <= 2*3 {
			hits3 += count
		}
		if key <= 2*10 {
			hits10 += count
		}
	}
	if total == 0 {
		return Metrics{}
	}
	n := float64(total)
	return Metrics{
		MRR: m.MRR / n, Hits1: float64(hits1) / n, Hits3: float64(hits3) / n, Hits10: float64(hits10) / n,
		MeanRank: float64(doubled) / 2 / n,
	}
}

// Accumulator counts ranks, in any order. Its zero value is ready to use.
type Accumulator struct {
	Pessimistic, Mean, Optimistic Tally
	// Queries is the number of ranks, Tied how many of them were tied.
	Queries, Tied int64
}

// Add counts one rank.
func (a *Accumulator) Add(r Rank) {
	a.prepare()
	a.Pessimistic[2*r.Pessimistic]++
	a.Mean[int64(2*r.Mean())]++
	a.Optimistic[2*r.Optimistic]++
	a.Queries++
	if r.Tied() {
		a.Tied++
	}
}

// TiedShare returns the fraction of ranks that were tied, 0 without ranks.
func (a *Accumulator) TiedShare() float64 {
	if a.Queries == 0 {
		return 0
	}
	return float64(a.Tied) / float64(a.Queries)
}

// prepare makes the maps that are nil.
func (a *Accumulator) prepare() {
	for _, tally := range []*Tally{&a.Pessimistic, &a.Mean, &a.Optimistic} {
		if *tally == nil {
			*tally = Tally{}
		}
	}
}
