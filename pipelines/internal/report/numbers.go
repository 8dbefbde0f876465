package report

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"tagnet/formats/workspace/metrics"
	"tagnet/pipelines/internal/cli/progress"
)

// count writes a number with separators: 1,234,567.
func count(n int64) string { return progress.Count(n) }

// plural writes a number of things: "1 epoch", "2 epochs".
func plural(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return count(n) + " " + many
}

// percent writes a share with one decimal: 92.1%. What is nearly nothing or nearly all is
// not rounded to it.
func percent(share float64) string {
	switch p := 100 * share; {
	case math.IsNaN(p) || math.IsInf(p, 0):
		return "–"
	case p == 0 || p == 100:
		return strconv.FormatFloat(p, 'f', 0, 64) + "%"
	case p > 0 && p < 0.05:
		return "<0.1%"
	case p > 99.95 && p < 100:
		return ">99.9%"
	default:
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	}
}

// wholePercent writes the tick of an axis of shares, with at most four digits that are not leading zeros: 60%, 0.0005%.
func wholePercent(share float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(100*share, 'g', 4, 64), 64)
	if err != nil {
		return "–"
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64) + "%"
}

// metric writes an MRR or the like: 0.921.
func metric(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// interval writes a confidence interval, or a dash if there is none.
func interval(i metrics.Interval, ok bool) string {
	if !ok {
		return "–"
	}
	return metric(i.Low) + "–" + metric(i.High)
}

// difference writes a change with its sign and confidence interval: +0.012 (+0.003 to +0.021).
func difference(change float64, i metrics.Interval, ok bool) string {
	if !ok {
		return fmt.Sprintf("%+.3f", change)
	}
	return fmt.Sprintf("%+.3f (%+.3f to %+.3f)", change, i.Low, i.High)
}

// short writes a large number with a letter for its magnitude: 6.53G.
func short(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= unit.size {
			return strconv.FormatFloat(v/unit.size, 'g', 3, 64) + unit.name
		}
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// duration writes seconds for a person: 48 s, 3 min 20 s, 2 h 5 min.
func duration(seconds float64) string {
	switch d := time.Duration(seconds * float64(time.Second)); {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", seconds)
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", seconds)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	default:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
}
