package ranking

import (
	"math/big"
	"math/bits"

	"tagnet/formats/workspace/metrics"
)

// Tally sums up ranks. All sums are integers: tallies that are added in any order and grouping have equal bits, and so
// have their metrics. Its zero value is ready to use.
type Tally struct {
	Ranks, Hits1, Hits3, Hits10 int64
	// Doubled is the sum of the ranks, times two, since mean ranks may be halves.
	Doubled int64
	// Inverses is the sum of the inverse ranks in units of 2^-88, as its high and its low word. It holds 2^40 ranks
	// of 1, and the error of the smallest inverse of an entity's rank, 2^-31, is below a float64's.
	Inverses [2]uint64
}

// inverseBits is the number of bits after the point of Tally.Inverses.
const inverseBits = 88

// add counts a rank, given as twice its value.
func (t *Tally) add(doubled int64) {
	t.Ranks++
	t.Doubled += doubled
	for _, hits := range []struct {
		count *int64
		most  int64
	}{{&t.Hits1, 1}, {&t.Hits3, 3}, {&t.Hits10, 10}} {
		if doubled <= 2*hits.most {
			*hits.count++
		}
	}
	// 2/doubled in units of 2^-88, by a long division of 2^89.
	high, rest := bits.Div64(0, 1<<(inverseBits+1-64), uint64(doubled))
	low, _ := bits.Div64(rest, 0, uint64(doubled))
	t.addInverses([2]uint64{high, low})
}

func (t *Tally) addInverses(sum [2]uint64) {
	var carry uint64
	t.Inverses[1], carry = bits.Add64(t.Inverses[1], sum[1], 0)
	t.Inverses[0], _ = bits.Add64(t.Inverses[0], sum[0], carry)
}

// Merge adds the ranks of another tally.
func (t *Tally) Merge(other Tally) {
	t.Ranks += other.Ranks
	t.Hits1 += other.Hits1
	t.Hits3 += other.Hits3
	t.Hits10 += other.Hits10
	t.Doubled += other.Doubled
	t.addInverses(other.Inverses)
}

// Metrics returns the metrics of the ranks, the MRR as the float64 next to it.
func (t Tally) Metrics() metrics.Metrics {
	if t.Ranks == 0 {
		return metrics.Metrics{}
	}
	sum := new(big.Int).SetUint64(t.Inverses[0])
	sum.Lsh(sum, 64).Or(sum, new(big.Int).SetUint64(t.Inverses[1]))
	mrr, _ := new(big.Rat).SetFrac(sum, new(big.Int).Lsh(big.NewInt(t.Ranks), inverseBits)).Float64()
	n := float64(t.Ranks)
	return metrics.Metrics{
		MRR: mrr, Hits1: float64(t.Hits1) / n, Hits3: float64(t.Hits3) / n, Hits10: float64(t.Hits10) / n,
		MeanRank: float64(t.Doubled) / 2 / n,
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
	a.Pessimistic.add(2 * r.Pessimistic)
	a.Mean.add(r.Pessimistic + r.Optimistic)
	a.Optimistic.add(2 * r.Optimistic)
	a.Queries++
	if r.Tied() {
		a.Tied++
	}
}

// Merge adds the ranks of another accumulator.
func (a *Accumulator) Merge(other Accumulator) {
	a.Pessimistic.Merge(other.Pessimistic)
	a.Mean.Merge(other.Mean)
	a.Optimistic.Merge(other.Optimistic)
	a.Queries += other.Queries
	a.Tied += other.Tied
}

// Metrics returns the metrics of the ranks.
func (a *Accumulator) Metrics() metrics.Ranks {
	return metrics.Ranks{
		Tied:        float64(a.Tied) / float64(max(1, a.Queries)),
		Pessimistic: a.Pessimistic.Metrics(), Mean: a.Mean.Metrics(), Optimistic: a.Optimistic.Metrics(),
	}
}
