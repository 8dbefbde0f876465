package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tagnet/formats/metrics"
	"tagnet/model/calibration"
	"tagnet/model/chart"
)

// fewestInBin is the least number of candidates of a bin that the reliability diagram shows: the share of true ones among
// fewer says little.
const fewestInBin = 20

// reliabilityFigure draws how often candidates are true by the probability that they are given, before and after
// calibration.
func reliabilityFigure(c *metrics.Calibration) figure {
	series := func(name string, color int, r metrics.Reliability) chart.Series {
		s := chart.Series{Key: chart.Key{Name: name, Color: color}, Mark: 4}
		for _, bin := range r.Bins {
			if bin.Candidates >= fewestInBin {
				s.Points = append(s.Points, chart.Point{X: bin.Mean, Y: bin.Observed})
			}
		}
		return s
	}
	caption := fmt.Sprintf("The share of new answers among the %d best that are true, by the probability that they are given; on the dots both are equal. Before, the sigmoid of the score stands for a probability. Of %d bins of equal width, those with %d answers or more.",
		c.TopK, calibration.Bins, fewestInBin)
	return newFigure("reliability", "Reliability of probabilities", caption, chart.Lines{
		X: chart.Axis{Label: "probability", Format: wholePercent, Zero: true, Most: 1},
		Y: chart.Axis{Label: "true", Format: wholePercent, Zero: true, Most: 1},
		Series: []chart.Series{
			{Key: chart.Key{Name: "equal", Color: 4}, Points: []chart.Point{{X: 0, Y: 0}, {X: 1, Y: 1}}, Dashed: true, Mark: 0.1},
			series("before calibration", 1, c.Before), series("after", 0, c.After),
		}})
}

// calibrationFigure returns a small table with the errors of the probabilities and the base rates.
func calibrationFigure(c *metrics.Calibration) figure {
	t := table{Title: "Probabilities",
		Note: fmt.Sprintf("The expected calibration error is the mean distance between a probability and the share that is true, over %s: the %d best of each query, without known ones of other splits.", plural(c.Candidates, "answer", "answers"), c.TopK)}
	t.add("Calibration error before", metric(c.Before.Error))
	t.add("Calibration error after", metric(c.After.Error))
	t.add("True answers", percent(c.Observed))
	t.add("Mean probability", percent(c.Mean))
	t.add(fmt.Sprintf("Base rate of the %d best", c.TopK), percent(c.BaseRate))
	if c.BaseRate != c.FittedBaseRate {
		t.add("Base rate in the "+c.Split+" split", percent(c.FittedBaseRate))
	}
	return t.figure()
}

// calibrationTable returns a folded table of the relations with enough queries, worst first.
func calibrationTable(c *metrics.Calibration) table {
	t := table{Title: "Calibration by relation", Folded: true, Head: []string{"Relation", "Queries", "True answers", "Error before", "Error after"},
		Note: fmt.Sprintf("Relations with at least %d distinct queries, both directions together.", calibration.MinQueries)}
	of := c.ByRelation
	names := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[b].After, of[a].After), cmp.Compare(a, b))
	})
	for _, name := range names {
		r := of[name]
		t.add(name, count(r.Queries), percent(float64(r.True)/float64(r.Candidates)), metric(r.Before), metric(r.After))
	}
	return t
}
