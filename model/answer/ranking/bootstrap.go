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

// replicate is the sums of one replicate. inverses is in units of 2^-30, which holds 2^33 ranks of 1.
type replicate struct{ queries, hits1, hits3, hits10, inverses int64 }

const inverseUnit = 1 << 30

// Add adds a query by its weights and rank.
func (b *Bootstrap) Add(weights *Weights, rank int64) {
	b.Queries++
	one := replicate{queries: 1, inverses: (inverseUnit + rank/2) / rank}
	for _, hits := range []struct {
		count *int64
		most  int64
	}{{&one.hits1, 1}, {&one.hits3, 3}, {&one.hits10, 10}} {
		if rank <= hits.most {
			*hits.count = 1
		}
	}
	for i := range b.sums {
		b.sums[i].add(one, int64(weights[i]))
	}
}

func (r *replicate) add(other replicate, times int64) {
	r.queries += times * other.queries
	r.hits1 += times * other.hits1
	r.hits3 += times * other.hits3
	r.hits10 += times * other.hits10
	r.inverses += times * other.inverses
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
		b.sums[i].add(other.sums[i], times)
	}
}

// Metric is one of the metrics that a bootstrap estimates.
type Metric int

const (
	MRR Metric = iota
	Hits1
	Hits3
	Hits10
)

// value returns a metric of a replicate, NaN if that holds no query.
func (r replicate) value(m Metric) float64 {
	if r.queries == 0 {
		return math.NaN()
	}
	n := float64(r.queries)
	switch m {
	case MRR:
		return float64(r.inverses) / inverseUnit / n
	case Hits1:
		return float64(r.hits1) / n
	case Hits3:
		return float64(r.hits3) / n
	default:
		return float64(r.hits10) / n
	}
}

// Interval returns the 95% interval of a metric. It is false with fewer than ten queries, of which a bootstrap can tell
// nothing.
func (b *Bootstrap) Interval(m Metric) (metrics.Interval, bool) {
	return b.interval(b, func(own, _ replicate) float64 { return own.value(m) })
}

// Difference returns the 95% interval of a metric minus another bootstrap's metric. Where both hold ranks of the same
// queries, the pairs are compared, so that it is an interval of the change.
func (b *Bootstrap) Difference(other *Bootstrap, m Metric) (metrics.Interval, bool) {
	return b.interval(other, func(own, other replicate) float64 { return own.value(m) - other.value(m) })
}

// interval returns the 2.5% and 97.5% quantiles of a function of both bootstraps' replicates, false for fewer than ten queries.
func (b *Bootstrap) interval(other *Bootstrap, of func(own, other replicate) float64) (metrics.Interval, bool) {
	const fewest = 10
	if b.Queries < fewest || other.Queries < fewest {
		return metrics.Interval{}, false
	}
	var values []float64
	for i, own := range b.sums {
		if v := of(own, other.sums[i]); v == v {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	tail := len(values) / 40
	return metrics.Interval{Low: values[tail], High: values[len(values)-1-tail]}, true
}

// Sample describes the queries as a sample of a number of queries, with the intervals of their metrics.
func (b *Bootstrap) Sample(of int64) *metrics.Sample {
	s := &metrics.Sample{Of: of}
	if mrr, ok := b.Interval(MRR); ok {
		s.Intervals = &metrics.Intervals{MRR: mrr}
		s.Intervals.Hits1, _ = b.Interval(Hits1)
		s.Intervals.Hits3, _ = b.Interval(Hits3)
		s.Intervals.Hits10, _ = b.Interval(Hits10)
	}
	return s
}
