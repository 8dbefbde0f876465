package metrics

import (
	"fmt"

	"tagnet/formats/strict"
)

// Metric is one of the metrics: the mean over the queries of a fraction that depends on the rank.
type Metric struct {
	// Key is the key in JSON, and Title the heading in tables.
	Key, Title string
	// Of returns the fraction of a rank, which is given as twice its value, since mean ranks may be halves.
	Of func(doubled int64) (numerator, denominator int64)
	// Value returns the field of the metric, and Interval its interval's. Interval is nil unless the metric is between
	// 0 and 1.
	Value    func(*Metrics) *float64
	Interval func(*Intervals) *Interval
}

// Table has a line for each field of Metrics, in the order in which they are shown.
var Table = [...]Metric{
	{"mrr", "MRR", inverse, func(m *Metrics) *float64 { return &m.MRR }, func(i *Intervals) *Interval { return &i.MRR }},
	hits(1, func(m *Metrics) *float64 { return &m.Hits1 }, func(i *Intervals) *Interval { return &i.Hits1 }),
	hits(3, func(m *Metrics) *float64 { return &m.Hits3 }, func(i *Intervals) *Interval { return &i.Hits3 }),
	hits(10, func(m *Metrics) *float64 { return &m.Hits10 }, func(i *Intervals) *Interval { return &i.Hits10 }),
	{"mean_rank", "mean rank", itself, func(m *Metrics) *float64 { return &m.MeanRank }, nil},
}

func inverse(doubled int64) (numerator, denominator int64) { return 2, doubled }

func itself(doubled int64) (numerator, denominator int64) { return doubled, 2 }

// hits returns Hits@most, the share of ranks up to most.
func hits(most int64, value func(*Metrics) *float64, interval func(*Intervals) *Interval) Metric {
	within := func(doubled int64) (numerator, denominator int64) {
		if doubled <= 2*most {
			return 1, 1
		}
		return 0, 1
	}
	return Metric{fmt.Sprintf("hits@%d", most), fmt.Sprintf("Hits@%d", most), within, value, interval}
}

// Plus returns the sum of m and a share of n.
func (m Metrics) Plus(n Metrics, share float64) Metrics {
	for _, one := range Table {
		*one.Value(&m) += share * *one.Value(&n)
	}
	return m
}

// Text returns a metric to four decimal places, or to one if it is not between 0 and 1.
func (m Metrics) Text(one Metric) string {
	if one.Interval == nil {
		return fmt.Sprintf("%.1f", *one.Value(&m))
	}
	return fmt.Sprintf("%.4f", *one.Value(&m))
}

// Low returns the lower end of a metric's interval, or "" if it has none.
func (i *Intervals) Low(one Metric) string {
	return i.text(one, func(i *Interval) float64 { return i.Low })
}

// High returns the upper end of a metric's interval, or "" if it has none.
func (i *Intervals) High(one Metric) string {
	return i.text(one, func(i *Interval) float64 { return i.High })
}

func (i *Intervals) text(one Metric, end func(*Interval) float64) string {
	if one.Interval == nil {
		return ""
	}
	return fmt.Sprintf("%.4f", end(one.Interval(i)))
}

// Check returns an error for metrics that no ranks have.
func (m Metrics) Check() error {
	for _, one := range Table {
		accepts := strict.Share
		if one.Interval == nil {
			accepts = strict.AtLeastZero
		}
		if err := accepts(one.Key, *one.Value(&m)); err != nil {
			return err
		}
	}
	return nil
}

// Check returns an error for intervals that no metrics have.
func (i Intervals) Check() error {
	for _, one := range Table {
		if one.Interval == nil {
			continue
		}
		if err := strict.Value(one.Key, *one.Interval(&i)); err != nil {
			return err
		}
	}
	return nil
}
