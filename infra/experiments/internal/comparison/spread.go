package comparison

import (
	"fmt"
	"math"

	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/results"
)

// Metric is a column of the tables: its name, and its value in the metrics of a split.
type Metric struct {
	Name string
	Of   func(metrics.Metrics) float64
}

// The metrics of the tables, by pessimistic ranks.
var (
	MRR    = Metric{"MRR", func(m metrics.Metrics) float64 { return m.MRR }}
	Hits1  = Metric{"Hits@1", func(m metrics.Metrics) float64 { return m.Hits1 }}
	Hits10 = Metric{"Hits@10", func(m metrics.Metrics) float64 { return m.Hits10 }}
)

// Spread describes a sample of values, such as a metric over seeds.
type Spread struct {
	// N is the size of the sample.
	N int
	// Mean is NaN for an empty sample.
	Mean float64
	// Deviation is the standard deviation of the population, estimated with N - 1; NaN for fewer than two values.
	Deviation float64
}

// SpreadOf returns the mean and the deviation of values.
func SpreadOf(values []float64) Spread {
	n := float64(len(values))
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += v
	}
	mean := sum / n
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	s := Spread{N: len(values), Mean: mean, Deviation: math.NaN()}
	if n > 1 {
		s.Deviation = math.Sqrt(squares / (n - 1))
	}
	return s
}

// Error returns the standard error of the mean, NaN for fewer than two values.
func (s Spread) Error() float64 { return s.Deviation / math.Sqrt(float64(s.N)) }

// Spread returns a value over the seeds of the group. Results for which of returns false are left out.
func (g Group) Spread(of func(results.Result) (float64, bool)) Spread {
	var values []float64
	for _, r := range g.Results {
		if v, ok := of(r); ok {
			values = append(values, v)
		}
	}
	return SpreadOf(values)
}

// Metric returns a pessimistic metric by a protocol, over the seeds.
func (g Group) Metric(protocol string, m Metric) Spread {
	return g.Spread(func(r results.Result) (float64, bool) {
		e, ok := r.Evaluation[protocol]
		return m.Of(e.Pessimistic), ok
	})
}

// Validation returns the validation MRR of the best checkpoints, without the trainings that were not validated.
func (g Group) Validation() Spread {
	return g.Spread(func(r results.Result) (float64, bool) {
		if valid := r.Training.Curve[r.Training.BestEpoch-1].Valid; valid != nil {
			return valid.MRR, true
		}
		return 0, false
	})
}

// Sent returns the share of NBFNet's messages that the group sends for the queries of a protocol.
func (g Group) Sent(protocol string) Spread {
	return g.Spread(func(r results.Result) (float64, bool) {
		e, ok := r.Evaluation[protocol]
		return float64(e.Messages) / float64(e.NBFNetMessages), ok && e.NBFNetMessages > 0
	})
}

// Seconds returns the time of a training, as measured on its machine.
func (g Group) Seconds() Spread {
	return g.Spread(func(r results.Result) (float64, bool) { return r.Training.Seconds, true })
}

// CPUSeconds returns the processor time of a training.
func (g Group) CPUSeconds() Spread {
	return g.Spread(func(r results.Result) (float64, bool) { return r.Training.CPUSeconds, r.Training.CPUSeconds > 0 })
}

// Plus writes mean and deviation: "0.563 ± 0.001", without the deviation of a single value, and a dash for an empty sample.
func (s Spread) Plus(format string) string {
	switch {
	case s.N == 0:
		return "–"
	case s.N == 1:
		return fmt.Sprintf(format, s.Mean)
	}
	return fmt.Sprintf(format+" ± "+format, s.Mean, s.Deviation)
}
