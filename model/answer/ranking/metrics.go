package ranking

import (
	"math/big"
	"math/bits"

	"tagnet/formats/workspace/metrics"
)

// Tally sums up ranks. All sums are exact, but for what is below 2^-128 of a rank: tallies that are added in any order
// and grouping have equal bits, and so have their metrics. Its zero value is ready to use.
type Tally struct {
	Ranks int64
	// Sums has the sum of each metric of the table, of at most 2^33 ranks.
	Sums [len(metrics.Table)]sum
}

// sum is a sum of fractions in units of 2^-128: whole numbers, then two words after the point.
type sum [3]uint64

// add adds a fraction, by a long division.
func (s *sum) add(numerator, denominator uint64) {
	high, rest := bits.Div64(numerator%denominator, 0, denominator)
	low, _ := bits.Div64(rest, 0, denominator)
	s.merge(sum{numerator / denominator, high, low})
}

func (s *sum) merge(other sum) {
	var carry uint64
	for i := len(s) - 1; i >= 0; i-- {
		s[i], carry = bits.Add64(s[i], other[i], carry)
	}
}

// mean returns the float64 next to the sum divided by a number.
func (s *sum) mean(n int64) float64 {
	whole, unit := new(big.Int), big.NewInt(n)
	for i, word := range s {
		whole.Lsh(whole, 64).Or(whole, new(big.Int).SetUint64(word))
		if i > 0 {
			unit.Lsh(unit, 64)
		}
	}
	mean, _ := new(big.Rat).SetFrac(whole, unit).Float64()
	return mean
}

// add counts a rank, given as twice its value.
func (t *Tally) add(doubled int64) {
	t.Ranks++
	for i, metric := range metrics.Table {
		numerator, denominator := metric.Of(doubled)
		t.Sums[i].add(uint64(numerator), uint64(denominator))
	}
}

// Merge adds the ranks of another tally.
func (t *Tally) Merge(other Tally) {
	t.Ranks += other.Ranks
	for i := range t.Sums {
		t.Sums[i].merge(other.Sums[i])
	}
}

// Metrics returns the metrics of the ranks, each the float64 next to it; zeros without ranks.
func (t Tally) Metrics() (m metrics.Metrics) {
	if t.Ranks == 0 {
		return m
	}
	for i, metric := range metrics.Table {
		*metric.Value(&m) = t.Sums[i].mean(t.Ranks)
	}
	return m
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
