package calibration

import (
	"math"

	"tagnet/formats/metrics"
)

// Bins is the number of bins of equal width in [0, 1] into which Reliability sorts probabilities.
const Bins = 10

// Reliability compares predicted probabilities with how often candidates are true. All sums are integers: counts that are
// added in any order and grouping are the same. Its zero value is ready to use.
type Reliability [Bins]Bin

// Bin counts the candidates whose probability is in [b/Bins, (b+1)/Bins); the last bin includes 1.
type Bin struct {
	// Candidates is the number of candidates, True how many of them are true.
	Candidates int64 `json:"n"`
	True       int64 `json:"t"`
	// Sum is that of the probabilities, each in units of 2^-32 and rounded. It holds 2^31 candidates.
	Sum int64 `json:"s"`
}

const unit = 1 << 32

// Add adds a candidate.
func (r *Reliability) Add(probability float64, isTrue bool) {
	if isTrue {
		r.AddAll(probability, 1, 1)
	} else {
		r.AddAll(probability, 1, 0)
	}
}

// AddAll adds candidates of the same probability, some of them true.
func (r *Reliability) AddAll(probability float64, candidates, isTrue int64) {
	b := &r[max(0, min(Bins-1, int(probability*Bins)))]
	b.Candidates += candidates
	b.Sum += candidates * int64(math.Round(probability*unit))
	b.True += isTrue
}

// Merge adds the counts of another Reliability.
func (r *Reliability) Merge(other *Reliability) {
	for i := range r {
		r[i].Candidates += other[i].Candidates
		r[i].True += other[i].True
		r[i].Sum += other[i].Sum
	}
}

// Total returns the sum of all bins.
func (r *Reliability) Total() Bin {
	var sum Bin
	for _, b := range r {
		sum.Candidates += b.Candidates
		sum.True += b.True
		sum.Sum += b.Sum
	}
	return sum
}

// Mean returns the mean probability of the bin's candidates, 0 if it is empty.
func (b Bin) Mean() float64 { return float64(b.Sum) / unit / float64(max(1, b.Candidates)) }

// Observed returns the share of the bin's candidates that is true, 0 if it is empty.
func (b Bin) Observed() float64 { return float64(b.True) / float64(max(1, b.Candidates)) }

// Error returns the expected calibration error: the mean over all candidates of the distance between the mean probability
// of their bin and the share of it that is true (Naeini, Cooper and Hauskrecht, 2015). It is 0 without candidates.
func (r *Reliability) Error() float64 {
	sum := 0.0
	for _, b := range r {
		sum += math.Abs(float64(b.Sum)/unit - float64(b.True))
	}
	return sum / float64(max(1, r.Total().Candidates))
}

// Table returns all bins with the error.
func (r *Reliability) Table() metrics.Reliability {
	table := metrics.Reliability{Error: r.Error()}
	for i, b := range r {
		table.Bins = append(table.Bins, metrics.Bin{From: float64(i) / Bins, To: float64(i+1) / Bins, Candidates: b.Candidates, Mean: b.Mean(), Observed: b.Observed()})
	}
	return table
}
