package main

import (
	"fmt"
	"path"
	"slices"
	"strconv"

	"tagnet/formats/hop"
	"tagnet/formats/workspace/counts"
	"tagnet/model/study/chart"
)

const figuresFolder = "figures"

// figure draws a file and returns the markup that shows it.
func (e *evidence) figure(name, title string, drawn interface {
	SVG(title, description string) string
}) string {
	file := path.Join(figuresFolder, name+".svg")
	e.figures[file] = chart.File(drawn.SVG(title, ""))
	return fmt.Sprintf(`<img src="%s" width="440" alt="%s">`, file, title)
}

// series returns the i-th line of a figure: four colors are solid, then dotted. Its points are means over seeds, with
// bars of one standard deviation to either side.
func series(name string, i, points int, point func(int) (x float64, y spread, ok bool)) chart.Series {
	s := chart.Series{Key: chart.Key{Name: name, Color: i % 4}, Dashed: i/4%2 == 1}
	for i := range points {
		if x, y, ok := point(i); ok {
			s.Points = append(s.Points, chart.Point{X: x, Y: y.Mean})
			s.Spread = append(s.Spread, y.Deviation)
		}
	}
	return s
}

func byModel(name string, i int, models []*model, metric string, x func(*model) float64) chart.Series {
	return series(name, i, len(models), func(i int) (float64, spread, bool) {
		y := models[i].Metric(metric)
		return x(models[i]), y, y.N > 0
	})
}

// messages is an axis of the share of NBFNet's messages, with as many digits as a tick of a logarithmic axis needs.
var messages = chart.Axis{Label: "share of NBFNet's messages that are sent",
	Format: func(share float64) string { return strconv.FormatFloat(100*share, 'g', 3, 64) + "%" }, Log: true}

// DeltaFigures draws quality by delta on a dataset, and against the messages.
func (e *evidence) DeltaFigures(dataset string) string {
	draw := func(name, title string, axis chart.Axis, x func(*model) float64) string {
		line := byModel(dataset, 0, e.Deltas(dataset), "Hits@10", x)
		return e.figure(name+dataset, dataset+": Hits@10 "+title, chart.Lines{X: axis, Y: chart.Axis{Label: "Hits@10"}, Series: []chart.Series{line}})
	}
	return draw("delta-", "by delta", chart.Axis{Label: "delta", Whole: true}, func(m *model) float64 { return float64(m.Configuration.Delta) }) + "\n" +
		draw("delta-messages-", "against messages, by delta", messages, (*model).Sent)
}

// Curves draws the validation MRR of a dataset's models of the paper by epoch. An epoch that some seed did not validate
// has no point.
func (e *evidence) Curves(dataset string) string {
	c := chart.Lines{X: chart.Axis{Label: "epoch", Whole: true}, Y: chart.Axis{Label: "validation MRR"}}
	for _, p := range e.Published.Methods {
		if m := e.Model(dataset, p.Experiment); len(m.Results) > 0 {
			c.Series = append(c.Series, series(p.Method, len(c.Series), m.Configuration.Epochs, func(i int) (float64, spread, bool) {
				y := m.Validation(i + 1)
				return float64(i + 1), y, y.N == len(m.Results)
			}))
		}
	}
	return e.figure("validation-"+dataset, "Validation MRR of "+dataset+" by epoch", c)
}

// datasetCounts holds the counts that commands make of a dataset without a model.
type datasetCounts struct {
	Graph     counts.Dataset            // by preprocess
	Distances counts.Distribution       // of the test queries
	Messages  map[string]counts.Summary // by split
}

// layers is the number of layers of the paper's models.
const layers = 6

// Configuration returns the counts of a split with the paper's layers and a delta.
func (c datasetCounts) Configuration(split string, delta int) counts.Configuration {
	i := slices.IndexFunc(c.Messages[split].Configurations, func(one counts.Configuration) bool { return one.Layers == layers && one.Delta == delta })
	return c.Messages[split].Configurations[i]
}

// Saved returns the shares of messages that are not sent in training, by delta: without the empty ones, or
// as the paper counts.
func (c datasetCounts) Saved(paper bool) (shares []float64) {
	for delta := range layers {
		of := c.Configuration("train", delta)
		share, _ := of.Saved()
		if paper {
			share = of.Decrease
		}
		shares = append(shares, share)
	}
	return shares
}

// Pruned returns the share of the pruned messages of a dataset that are empty, with the delta of the paper.
func (c datasetCounts) Pruned(split string, delta int) float64 {
	return c.Configuration(split, delta).PrunedEmptyShare()
}

// Shares returns the shares of the test queries by the distance of their answers: 0, where the source is an answer, to
// 5, and 6 and more.
func (c datasetCounts) Shares() (shares []float64) {
	for distance := range layers + 1 {
		queries := c.Distances.ByDistance[fmt.Sprint(distance)]
		if distance == layers {
			queries += c.Distances.ByDistance[hop.Key]
		}
		shares = append(shares, float64(queries)/float64(c.Distances.Queries))
	}
	return shares
}
