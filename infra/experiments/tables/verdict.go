package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/results"
	"tagnet/infra/experiments/internal/comparison"
)

// verdict compares a measured number with a published one.
type verdict int

const (
	missing verdict = iota
	reached         // at or above
	within          // less than a standard error below
	lower
)

// sign marks the verdict in a table.
func (v verdict) sign() string { return [...]string{"", "✓", "≈", "▼"}[v] }

// number is a number of the paper and ours.
type number struct {
	cell   *cell
	method string
	metric comparison.Metric
	paper  float64
	ours   comparison.Spread
	// ofQueries is the standard error that the number of test queries leaves, ofSeeds that of the mean over the seeds, which is NaN for a single seed.
	ofQueries, ofSeeds float64
}

// newNumber compares a cell's metric, by the paper's protocol, with a published number.
func newNumber(c *cell, method string, m comparison.Metric, paper float64) number {
	ours := c.Metric(results.TestProtocol, m)
	return number{cell: c, method: method, metric: m, paper: paper, ours: ours, ofQueries: queryError(c.Group, m), ofSeeds: ours.Error()}
}

// difference returns ours less the paper's, both with three digits, since the paper's has no more.
func (n number) difference() float64 { return math.Round(1000*n.ours.Mean)/1000 - n.paper }

// standardError returns that of our number.
func (n number) standardError() float64 {
	if math.IsNaN(n.ofSeeds) {
		return n.ofQueries
	}
	return math.Hypot(n.ofSeeds, n.ofQueries)
}

func (n number) verdict() verdict {
	switch d := n.difference(); {
	case n.ours.N == 0:
		return missing
	case d > -0.0005:
		return reached
	case d >= -n.standardError():
		return within
	}
	return lower
}

// queryError returns the standard error of a metric that comes from the number of queries, if these were drawn independently. That of a share is exact. That of
// the MRR is an upper bound, at most a few percent above it: of the inverse ranks the shares of ranks up to 1, 3 and 10 are known, and within each
// range the inverse is at most that of its first rank.
func queryError(g comparison.Group, m comparison.Metric) float64 {
	mean := func(of func(metrics.Metrics) float64) float64 {
		return g.Metric(results.TestProtocol, comparison.Metric{Of: of}).Mean
	}
	queries := g.Spread(func(r results.Result) (float64, bool) {
		e, ok := r.Evaluation[results.TestProtocol]
		return float64(e.Queries), ok
	}).Mean
	value := mean(m.Of)
	square := value // of a share: the square of 0 or 1 is itself
	if m.Name == comparison.MRR.Name {
		h1, h3, h10 := mean(comparison.Hits1.Of), mean(func(m metrics.Metrics) float64 { return m.Hits3 }), mean(comparison.Hits10.Of)
		square = h1 + (h3-h1)/4 + (h10-h3)/16 + (1-h10)/121
	}
	return math.Sqrt(max(0, square-value*value) / queries)
}

// The ways of writing numbers: metrics with three digits and without the zero before the point, as papers do.
func three(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return strings.Replace(strconv.FormatFloat(v, 'f', 3, 64), "0.", ".", 1)
}

func signed(v float64) string {
	if text := three(math.Abs(v)); v > -0.0005 {
		return "+" + text
	} else {
		return "−" + text
	}
}

// plus writes mean and deviation.
func plus(s comparison.Spread) string {
	if s.N < 2 {
		return three(s.Mean)
	}
	return three(s.Mean) + " ± " + three(s.Deviation)
}

func percent(share float64) string {
	if math.IsNaN(share) {
		return "–"
	}
	return fmt.Sprintf("%.1f%%", 100*share)
}

// wholePercent writes the tick of an axis, or a share that the paper gives without decimals.
func wholePercent(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

// duration writes seconds: 71 s, 16 min, 3.2 h.
func duration(s comparison.Spread) string {
	switch v := s.Mean; {
	case s.N == 0:
		return "–"
	case v < 120:
		return fmt.Sprintf("%.0f s", v)
	case v < 7200:
		return fmt.Sprintf("%.0f min", v/60)
	default:
		return fmt.Sprintf("%.1f h", v/3600)
	}
}
