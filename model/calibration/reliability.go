package calibration

import "tagnet/formats/check"

import "math"

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
	b := &r[max(0, min(Bins-1, int(probability*Bins)))]
	b.Candidates++
	b.Sum += int64(math.Round(probability * unit))
	if isTrue {
		b.True++
	}
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

// Row is a bin as people read it.
type Row struct {
	// From and To are the ends of the bin.
	From       float64 `json:"from"`
	To         float64 `json:"to"`
	Candidates int64   `json:"candidates"`
	// Mean and Observed are those of the Bin.
	Mean     float64 `json:"mean"`
	Observed float64 `json:"observed"`
}

// Check returns an error for numbers that no bin has.
func (r Row) Check() error {
	return check.First(check.Share("from", r.From), check.Share("to", r.To), check.Count("candidates", r.Candidates), check.Share("mean", r.Mean), check.Share("observed", r.Observed))
}

// Rows returns all bins.
func (r *Reliability) Rows() []Row {
	rows := make([]Row, Bins)
	for i, b := range r {
		rows[i] = Row{float64(i) / Bins, float64(i+1) / Bins, b.Candidates, b.Mean(), b.Observed()}
	}
	return rows
}
