package ranking

import (
	"math"
	"slices"
	"sync"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/parallel"
)

// Replicates is the number of replicates of a bootstrap.
const Replicates = 1000

// Weights are how often each replicate of a bootstrap takes a query.
type Weights [Replicates]uint8

// Draw sets the weights of a query: Poisson variables of mean 1 that depend on the seed and the query's number alone.
// Replicates of several models that rank the same queries are therefore paired.
func (w *Weights) Draw(seed uint64, query int64) {
	table := poisson()
	state := parallel.Seed(seed, uint64(query))
	for i := range w {
		if i%4 == 0 {
			state = parallel.Mix(state)
		}
		w[i] = table[uint16(state>>(16*(i%4)))]
	}
}

// poisson returns the quantile function of the Poisson distribution of mean 1 in steps of 2^-16.
var poisson = sync.OnceValue(func() *[1 << 16]uint8 {
	table := new([1 << 16]uint8)
	probability := math.Exp(-1)
	below, value := probability, uint8(0)
	for i := range table {
		for (float64(i)+0.5)/float64(len(table)) > below {
			value++
			probability /= float64(value)
			below += probability
		}
		table[i] = value
	}
	return table
})

// Bootstrap estimates how metrics would vary with other queries of the same kind. Each of its replicates holds every
// query as often as a Poisson variable of mean 1 says, which approximates drawing as many queries with replacement, and
// needs no more memory for more queries. The sums are integers: replicates that are merged in any order and grouping
// are the same.
type Bootstrap struct {
	// Queries is the number of queries, each counted once.
	Queries int64
	sums    [Replicates]replicate
}

// replicate is the sums of one replicate: of its queries and, in units of 2^-30, of each metric that has an interval.
// It holds 2^33 ranks of 1.
type replicate struct {
	queries int64
	sums    [len(metrics.Table)]int64
}

const unit = 1 << 30

// Add adds a query by its weights and rank.
func (b *Bootstrap) Add(weights *Weights, rank int64) {
	b.Queries++
	one := replicate{queries: 1}
	for i, metric := range metrics.Table {
		if metric.Interval != nil {
			numerator, denominator := metric.Of(2 * rank)
			one.sums[i] = (unit*numerator + denominator/2) / denominator
		}
	}
	for i := range b.sums {
		b.sums[i].add(&one, int64(weights[i]))
	}
}

func (r *replicate) add(other *replicate, times int64) {
	r.queries += times * other.queries
	for i, sum := range other.sums {
		r.sums[i] += times * sum
	}
}

// Merge adds the queries of another bootstrap.
func (b *Bootstrap) Merge(other *Bootstrap) { b.merge(other, 1) }

// Without returns the bootstrap of the queries without the queries of another bootstrap, which holds some of them.
func (b *Bootstrap) Without(other *Bootstrap) *Bootstrap {
	rest := *b
	rest.merge(other, -1)
	return &rest
}

func (b *Bootstrap) merge(other *Bootstrap, times int64) {
	b.Queries += times * other.Queries
	for i := range b.sums {
		b.sums[i].add(&other.sums[i], times)
	}
}

// value returns the metric in a line of the table, NaN if the replicate holds no query.
func (r *replicate) value(metric int) float64 {
	if r.queries == 0 {
		return math.NaN()
	}
	return float64(r.sums[metric]) / unit / float64(r.queries)
}

// Intervals returns the 95% intervals of the metrics. It is nil with fewer than ten queries, of which a
// bootstrap can tell nothing.
func (b *Bootstrap) Intervals() *metrics.Intervals {
	var all metrics.Intervals
	for i, metric := range metrics.Table {
		if metric.Interval == nil {
			continue
		}
		interval, ok := b.interval(b, func(own, _ *replicate) float64 { return own.value(i) })
		if !ok {
			return nil
		}
		*metric.Interval(&all) = interval
	}
	return &all
}

// MRR returns the 95% interval of the MRR, false for fewer than ten queries.
func (b *Bootstrap) MRR() (metrics.Interval, bool) {
	return b.interval(b, func(own, _ *replicate) float64 { return own.value(mrr) })
}

// Difference returns the 95% interval of the MRR minus another bootstrap's. Where both hold ranks of the same queries,
// the pairs are compared, so that it is an interval of the change.
func (b *Bootstrap) Difference(other *Bootstrap) (metrics.Interval, bool) {
	return b.interval(other, func(own, other *replicate) float64 { return own.value(mrr) - other.value(mrr) })
}

// mrr is the line of the MRR in the table.
const mrr = 0

// interval returns the 2.5% and 97.5% quantiles of a function of both bootstraps' replicates, false for
// fewer than ten queries.
func (b *Bootstrap) interval(other *Bootstrap, measure func(own, other *replicate) float64) (metrics.Interval, bool) {
	const fewest = 10
	if b.Queries < fewest || other.Queries < fewest {
		return metrics.Interval{}, false
	}
	var values []float64
	for i := range b.sums {
		if v := measure(&b.sums[i], &other.sums[i]); v == v {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	tail := len(values) / 40
	return metrics.Interval{Low: values[tail], High: values[len(values)-1-tail]}, true
}

// Sample describes the queries as a sample of a number of queries, with the intervals of their metrics.
func (b *Bootstrap) Sample(queries int64) *metrics.Sample {
	return &metrics.Sample{Of: queries, Intervals: b.Intervals()}
}
