package metrics

import (
	"fmt"

	"tagnet/formats/strict"
)

// Sample says that metrics were measured on a sample of queries, and how far the metrics of all
// queries may be from them.
type Sample struct {
	// Of is the number of queries of which the sample was taken, evenly.
	Of int64 `json:"of"`
	// Intervals are for the pessimistic metrics; nil for fewer than ten queries, which are too few.
	Intervals *Intervals `json:"intervals_95,omitempty"`
}

// Intervals has 95% confidence intervals.
type Intervals struct {
	MRR    Interval `json:"mrr"`
	Hits1  Interval `json:"hits@1"`
	Hits3  Interval `json:"hits@3"`
	Hits10 Interval `json:"hits@10"`
}

// Interval is a 95% confidence interval.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Excludes returns whether a value is outside the interval.
func (i Interval) Excludes(value float64) bool { return value < i.Low || value > i.High }

// String returns 0.1234 to 0.2345.
func (i Interval) String() string { return fmt.Sprintf("%.4f to %.4f", i.Low, i.High) }

// Check returns an error for numbers that no sample has.
func (s Sample) Check() error {
	if err := strict.Count("of", s.Of); err != nil || s.Intervals == nil {
		return err
	}
	return s.Intervals.Check()
}

// Check returns an error for bounds that no interval has.
func (i Interval) Check() error {
	err := strict.First(strict.Share("low", i.Low), strict.Share("high", i.High))
	if err == nil && i.Low > i.High {
		err = fmt.Errorf("low is %g, above high, %g", i.Low, i.High)
	}
	return err
}
