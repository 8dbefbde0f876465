package spec

import (
	"math"

	"tagnet/model/weights/configuration"
)

// member is a vector in a set, with its number of copies, at least one.
type member struct {
	vector []float64
	copies float64
}

// reduction reduces a set to an update vector.
type reduction struct {
	aggregate string
	// divisor is degree + 1, the number of messages that the set stands for. The mean divides by it even
	// where some of them are not in the set.
	divisor float64
	// scalers are 1, c and 1/max(c, 0.01), where c is the log degree relative to the graph's mean.
	scalers [3]float64
	// shared makes backward share the gradient of a maximum or minimum evenly among the members that
	// attain it, as explanations do, instead of giving it to the first.
	shared bool
}

func newReduction(aggregate string, degree int, meanLogDegree float64) reduction {
	c := 0.0 // in a graph without edges, whose mean is 0
	if meanLogDegree > 0 {
		c = math.Log(float64(degree)+1) / meanLogDegree
	}
	return reduction{aggregate: aggregate, divisor: float64(degree) + 1, scalers: [3]float64{1, c, 1 / math.Max(c, 0.01)}}
}

// smallestVariance keeps the standard deviation away from 0, where it has no derivative.
const smallestVariance = 1e-6

// tie is the relative difference up to which members share an extreme: states that are equal on paper differ in their
// last bits where the sums that they come from have another order.
const tie = 1e-12

// The order of PNA's aggregators in an update vector: entry (j*4 + aggregator)*3 + scaler
// belongs to dimension j.
const (
	pnaMean = iota
	pnaMax
	pnaMin
	pnaStd
	pnaAggregators
)

// apply reduces a set, which is not empty, to the update vector: 12 d entries for PNA, else d.
func (r reduction) apply(set []member) []float64 {
	var update []float64
	for j := range set[0].vector {
		switch r.aggregate {
		case configuration.AggregateSum:
			update = append(update, sum(set, j))
		case configuration.AggregateMean:
			update = append(update, r.mean(set, j))
		case configuration.AggregateMax:
			update = append(update, set[first(set, j, greater)].vector[j])
		case configuration.AggregatePNA:
			values := [pnaAggregators]float64{
				pnaMean: r.mean(set, j),
				pnaMax:  set[first(set, j, greater)].vector[j],
				pnaMin:  set[first(set, j, less)].vector[j],
				pnaStd:  math.Sqrt(math.Max(r.variance(set, j), smallestVariance)),
			}
			for _, value := range values {
				for _, scaler := range r.scalers {
					update = append(update, scaler*value)
				}
			}
		}
	}
	return update
}

// backward returns, for each member, the gradient by its vector (all its copies together).
//
// Where several members attain a maximum or minimum, the first receives its gradient: the boundary, then
// the degree message, then the messages in order. Any other choice gives the parameters the same
// gradients: members tie where a state is zero, which passes no gradient on, or where their states and
// relations are computed in the same way, so that each would pass on the same gradient. The gradients by
// single messages do depend on the choice; for those, shared gives each of the members an equal part.
func (r reduction) backward(set []member, update []float64) [][]float64 {
	gradients := make([][]float64, len(set))
	for i := range set {
		gradients[i] = make([]float64, len(set[i].vector))
	}
	for j := range set[0].vector {
		// Each function adds the gradient by one aggregate of column j.
		toSum := func(gradient float64) {
			for i, m := range set {
				gradients[i][j] += gradient * m.copies
			}
		}
		toExtreme := func(gradient float64, beats func(a, b float64) bool) {
			best := first(set, j, beats)
			if !r.shared {
				gradients[best][j] += gradient
				return
			}
			var tied []int
			for i, m := range set {
				if extreme := set[best].vector[j]; math.Abs(m.vector[j]-extreme) <= tie*math.Abs(extreme) {
					tied = append(tied, i)
				}
			}
			for _, i := range tied {
				gradients[i][j] += gradient / float64(len(tied))
			}
		}
		toStd := func(gradient float64) {
			mean, variance := r.mean(set, j), r.variance(set, j)
			if variance < smallestVariance {
				return
			}
			for i, m := range set {
				// variance = sum of squares / divisor - mean^2
				gradients[i][j] += gradient / (2 * math.Sqrt(variance)) * m.copies / r.divisor * 2 * (m.vector[j] - mean)
			}
		}
		switch r.aggregate {
		case configuration.AggregateSum:
			toSum(update[j])
		case configuration.AggregateMean:
			toSum(update[j] / r.divisor)
		case configuration.AggregateMax:
			toExtreme(update[j], greater)
		case configuration.AggregatePNA:
			// Each aggregate occurs under every scaler.
			var values [pnaAggregators]float64
			for a := range values {
				for k, scaler := range r.scalers {
					values[a] += scaler * update[(j*pnaAggregators+a)*len(r.scalers)+k]
				}
			}
			toSum(values[pnaMean] / r.divisor)
			toExtreme(values[pnaMax], greater)
			toExtreme(values[pnaMin], less)
			toStd(values[pnaStd])
		}
	}
	return gradients
}

// sum adds a dimension over the members. It is not the mean times the divisor, since rounding would make
// states of equal sums but different degrees differ, and so reorder equal priorities.
func sum(set []member, j int) float64 {
	total := 0.0
	for _, m := range set {
		total += m.copies * m.vector[j]
	}
	return total
}

func (r reduction) mean(set []member, j int) float64 { return sum(set, j) / r.divisor }

// variance returns the variance of column j, as a mean of squares minus a squared mean.
func (r reduction) variance(set []member, j int) float64 {
	squares := 0.0
	for _, m := range set {
		squares += m.copies * m.vector[j] * m.vector[j]
	}
	mean := r.mean(set, j)
	return squares/r.divisor - mean*mean
}

// first returns the index of the first member that no other one beats in dimension j.
func first(set []member, j int, beats func(a, b float64) bool) int {
	best := 0
	for i := range set {
		if beats(set[i].vector[j], set[best].vector[j]) {
			best = i
		}
	}
	return best
}

func greater(a, b float64) bool { return a > b }
func less(a, b float64) bool    { return a < b }
