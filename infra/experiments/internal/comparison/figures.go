package comparison

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"tagnet/model/study/chart"
)

// MostSeries is the most groups that a figure shows: four colors, each solid, and dotted with rings.
const MostSeries = 8

// look sets the color of the i-th series of a figure, and whether its line is dotted.
func look(name string, i int) chart.Series {
	const colors = MostSeries / 2
	return chart.Series{Key: chart.Key{Name: name, Color: i % colors}, Dashed: i/colors%2 == 1}
}

// Curves draws the validation MRR by epoch, a line for each group: the mean over its seeds, with a bar of one standard deviation to
// either side. An epoch that some seed did not validate has no point. name returns the names of the lines.
func Curves(groups []Group, name func(Group) string) chart.Lines {
	c := chart.Lines{X: chart.Axis{Label: "epoch", Whole: true}, Y: chart.Axis{Label: "validation MRR"}}
	for i, g := range groups {
		series := look(name(g), i)
		for epoch := 0; ; epoch++ {
			var values []float64
			ended := true
			for _, r := range g.Results {
				if epoch < len(r.Training.Curve) {
					ended = false
					if v := r.Training.Curve[epoch].Valid; v != nil {
						values = append(values, v.MRR)
					}
				}
			}
			if ended {
				break
			}
			if s := SpreadOf(values); s.N == len(g.Results) {
				add(&series, float64(epoch+1), s)
			}
		}
		c.Series = append(c.Series, series)
	}
	return c
}

// add appends the mean of a spread, with a bar of its deviation.
func add(series *chart.Series, x float64, s Spread) {
	series.Points = append(series.Points, chart.Point{X: x, Y: s.Mean})
	series.Spread = append(series.Spread, s.Deviation)
}

// Line is groups that a figure joins, by a value that changes from one to the next.
type Line struct {
	Name   string
	Groups []Group
}

// ByValue draws a metric by the value of a flag, a line of groups each, as means over the seeds with bars of one standard deviation to either side.
func ByValue(flag, protocol string, m Metric, lines []Line) chart.Lines {
	c := chart.Lines{X: chart.Axis{Label: flag}, Y: chart.Axis{Label: m.Name}}
	c.X.Whole = true
	for i, line := range lines {
		series := look(line.Name, i)
		for _, g := range line.Groups {
			x, ok := g.Number(flag)
			if s := g.Metric(protocol, m); ok && s.N > 0 {
				c.X.Whole = c.X.Whole && x == math.Trunc(x)
				add(&series, x, s)
			}
		}
		c.Series = append(c.Series, series)
	}
	return c
}

// AgainstMessages draws a metric by the share of NBFNet's messages that were sent for it, as ByValue does.
func AgainstMessages(protocol string, m Metric, lines []Line) chart.Lines {
	c := chart.Lines{X: chart.Axis{Label: "share of NBFNet's messages that are sent", Format: percent, Log: true}, Y: chart.Axis{Label: m.Name}}
	for i, line := range lines {
		series := look(line.Name, i)
		for _, g := range line.Groups {
			if s, sent := g.Metric(protocol, m), g.Sent(protocol); s.N > 0 && sent.Mean > 0 {
				add(&series, sent.Mean, s)
			}
		}
		c.Series = append(c.Series, series)
	}
	return c
}

// decideMessages are the flags whose values decide how many messages a layer sends.
var decideMessages = []string{"policy", "layers", "delta", "delta_mode", "node_ratio", "degree_ratio", "evaluation_node_ratio", "evaluation_degree_ratio"}

// ByExperiment returns a line for each experiment, in the order of its first group, with its groups sorted by the share of NBFNet's messages that
// they send; groups that were not evaluated by the protocol are left out. Groups that differ in a varied flag that does not decide the number of
// messages, such as epochs, are on different lines.
func ByExperiment(groups []Group, protocol string) []Line {
	var lines []Line
	for _, g := range groups {
		if g.Sent(protocol).N == 0 {
			continue
		}
		others := maps.Clone(g.Varied)
		maps.DeleteFunc(others, func(flag, _ string) bool { return slices.Contains(decideMessages, flag) })
		lines = join(lines, Group{Experiment: g.Experiment, Varied: others}.Name(), g)
	}
	for _, l := range lines {
		slices.SortStableFunc(l.Groups, func(a, b Group) int { return cmp.Compare(a.Sent(protocol).Mean, b.Sent(protocol).Mean) })
	}
	return lines
}

// join appends a group to the line of a name, which it adds if there is none.
func join(lines []Line, name string, g Group) []Line {
	i := slices.IndexFunc(lines, func(l Line) bool { return l.Name == name })
	if i < 0 {
		i, lines = len(lines), append(lines, Line{Name: name})
	}
	lines[i].Groups = append(lines[i].Groups, g)
	return lines
}

// percent writes a share with as many digits as a tick of a logarithmic axis needs.
func percent(share float64) string {
	return strconv.FormatFloat(100*share, 'g', 3, 64) + "%"
}
