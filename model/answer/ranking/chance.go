package ranking

import (
	"math"

	"tagnet/formats/workspace/metrics"
)

// Chance sums up the inverse ranks that random scores give: every rank of an answer among its candidates is equally
// likely. The sums depend on the order of the queries in their last bits. Its zero value is ready to use.
type Chance struct {
	queries        int64
	mean, variance float64 // sums over the queries
}

// Add adds a query by the number of its candidates, the answer included.
func (c *Chance) Add(candidates int64) {
	mean, square := inverses(candidates)
	c.queries++
	c.mean += mean
	c.variance += square - mean*mean
}

// MRR returns the MRR of random scores and its standard error.
func (c *Chance) MRR() metrics.Chance {
	n := float64(max(1, c.queries))
	return metrics.Chance{MRR: c.mean / n, Error: math.Sqrt(max(0, c.variance)) / n}
}

// inverses returns the means of 1/r and of 1/r² over the ranks r = 1..n: of many ranks by the expansions of Euler and
// Maclaurin, which are exact to ten digits there.
func inverses(n int64) (mean, square float64) {
	const exact = 64
	x := float64(n)
	if n > exact {
		const gamma = 0.57721566490153286
		return (math.Log(x) + gamma + 1/(2*x) - 1/(12*x*x)) / x, (math.Pi*math.Pi/6 - 1/x + 1/(2*x*x) - 1/(6*x*x*x)) / x
	}
	for r := 1.; r <= x; r++ {
		mean += 1 / r / x
		square += 1 / (r * r) / x
	}
	return mean, square
}
