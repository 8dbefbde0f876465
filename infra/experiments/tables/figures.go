package main

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"tagnet/formats/reach"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/results"
	"tagnet/infra/experiments/internal/comparison"
	"tagnet/model/study/chart"
)

// figure draws a file and returns the markup that shows it.
func (e *evidence) figure(name, title string, drawn interface {
	SVG(title, description string) string
}) string {
	file := path.Join(figuresFolder, name+".svg")
	e.figures[file] = chart.File(drawn.SVG(title, ""))
	return fmt.Sprintf(`<img src="%s" width="440" alt="%s">`, file, title)
}

// deltaCells returns the cells of fixed delta on a dataset that differ in delta only, by delta.
func (e *evidence) deltaCells(dataset string) []*cell {
	var list []*cell
	for _, key := range slices.Sorted(maps.Keys(e.cells)) {
		c := e.cells[key]
		if _, varied := c.Varied["delta"]; c.Dataset == dataset && c.Experiment == "fixed" && (varied && len(c.Varied) == 1 || len(c.Varied) == 0) {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b *cell) int { return a.delta() - b.delta() })
	return list
}

// delta returns the delta of the cell, measured or planned.
func (c *cell) delta() int {
	if v, ok := c.Number("delta"); ok {
		return int(v)
	}
	return c.configuration.Delta
}

// deltas adds quality by delta.
func (e *evidence) deltas(t *text) {
	t.say("## Quality by delta")
	t.say("Fixed delta, 6 layers. The paper draws these curves without giving numbers: on both transductive datasets and FB15k-237 v1 quality stops rising at delta 2, and on WN18RR v1 it hardly changes.")
	var rows [][]string
	for _, dataset := range slices.Concat(transductive, inductive) {
		cells := e.deltaCells(dataset)
		if len(cells) < 2 {
			continue
		}
		var groups []comparison.Group
		for _, c := range cells {
			row := []string{dataset, fmt.Sprint(c.delta()), c.seedsDone()}
			for _, m := range shownMetrics {
				row = append(row, plus(c.Metric(results.TestProtocol, m.Metric)))
			}
			rows = append(rows, append(row, percent(1-c.Sent(results.TestProtocol).Mean), duration(c.CPUSeconds()), e.command(c)))
			if len(c.Results) > 0 {
				groups = append(groups, c.Group)
			}
		}
		if len(groups) > 1 {
			line := []comparison.Line{{Name: dataset, Groups: groups}}
			t.say("%s by delta, and against the share of messages that are sent:\n\n%s\n%s", dataset,
				e.figure("delta-"+dataset, dataset+": Hits@10 by delta", comparison.ByValue("delta", results.TestProtocol, comparison.Hits10, line)),
				e.figure("delta-messages-"+dataset, dataset+": Hits@10 against messages, by delta", comparison.AgainstMessages(results.TestProtocol, comparison.Hits10, line)))
		}
	}
	t.table([]string{"", "delta", "seeds", "MRR", "Hits@1", "Hits@10", "messages saved", "processor time", "repeat"}, rows)
}

// curves adds the validation curves of the transductive datasets.
func (e *evidence) curves(t *text) {
	t.say("## Training curves")
	t.say("MRR on the validation split after each epoch, as mean over the seeds, with a bar of one standard deviation to either side.")
	for _, dataset := range transductive {
		var groups []comparison.Group
		method := map[string]string{} // by the name of the experiment
		for _, m := range e.published.Methods {
			if c := e.cell(dataset, m.Experiment); len(c.Results) > 0 {
				groups = append(groups, c.Group)
				method[c.Experiment] = m.Method
			}
		}
		if len(groups) == 0 {
			t.say("%s has no training yet.", dataset)
			continue
		}
		t.say("%s:\n\n%s", dataset, e.figure("validation-"+dataset, "Validation MRR of "+dataset+" by epoch", comparison.Curves(groups, func(g comparison.Group) string { return method[g.Experiment] })))
	}
}

// layers is the number of layers of the paper's models.
const layers = 6

// configurationOf returns the counts of a split with the paper's layers and a delta.
func configurationOf(c counted, split string, delta int) (counts.Configuration, bool) {
	for _, one := range c.messages[split].Configurations {
		if one.Layers == layers && one.Delta == delta {
			return one, true
		}
	}
	return counts.Configuration{}, false
}

// messages adds the counts and distances, which need no training.
func (e *evidence) messages(t *text) {
	t.say("## Messages and distances")
	t.say("Counted exactly, without a model: [`counts/NAME`](counts) has `summary.json` of `preprocess --dataset NAME` (with `--inference NAME_ind` for the inductive splits), `distribution.json` of `distances --split test`, and `summary.json` of `messages --layers %d --split train` and of `--split test`.", layers)
	t.say("The share of messages that are not sent in training, by delta. The first line of a dataset counts every message that the window admits as sent, as the paper does. The second line counts empty messages, which come from entities that are not yet reached, as not sent: tagnet does not send them.")
	var rows [][]string
	c := chart.Lines{X: chart.Axis{Label: "delta", Whole: true}, Y: chart.Axis{Label: "messages saved", Format: wholePercent, Zero: true, Most: 1}}
	head := []string{"", ""}
	for delta := range layers {
		head = append(head, fmt.Sprintf("delta %d", delta))
	}
	datasets := slices.DeleteFunc(slices.Concat(transductive, inductive), func(dataset string) bool { _, ok := e.counts[dataset]; return !ok })
	for i, dataset := range datasets {
		series := chart.Series{Key: chart.Key{Name: dataset, Color: i}}
		paper, ours := []string{dataset, "as the paper counts"}, []string{"", "without the empty ones"}
		for delta := range layers {
			counted, ok := configurationOf(e.counts[dataset], "train", delta)
			if !ok {
				paper, ours = append(paper, "–"), append(ours, "–")
				continue
			}
			saved, _ := counted.Saved()
			series.Points = append(series.Points, chart.Point{X: float64(delta), Y: counted.Decrease})
			paper, ours = append(paper, percent(counted.Decrease)), append(ours, percent(saved))
		}
		c.Series = append(c.Series, series)
		rows = append(rows, paper, ours)
	}
	t.say("%s", e.figure("messages-saved", "Messages saved in training by delta, as the paper counts", c))
	t.table(head, rows)
	e.composition(t)
	e.onAStar(t)
	e.distances(t)
}

// composition adds the share of the pruned messages that are empty.
func (e *evidence) composition(t *text) {
	t.say("The share of the pruned messages that are empty; all others are redundant. The paper's 91%% for WN18RR does not follow from its definitions.")
	bars := chart.Bars{Stacked: true, X: chart.Axis{Label: "pruned messages, of the test queries", Format: wholePercent, Most: 1},
		Series: []chart.Key{{Name: "empty", Color: 5}, {Name: "redundant", Color: 4}}}
	var rows [][]string
	for _, one := range []struct {
		dataset string
		delta   int
	}{{"FB15k-237", 2}, {"WN18RR", 3}} {
		row := []string{one.dataset, fmt.Sprint(one.delta)}
		for _, split := range []string{"train", "test"} {
			counted, ok := configurationOf(e.counts[one.dataset], split, one.delta)
			if !ok {
				row = append(row, "–")
				continue
			}
			share := counted.PrunedEmptyShare()
			row = append(row, percent(share))
			if split == "test" {
				bars.Rows = append(bars.Rows, chart.Row{Name: one.dataset, Bars: []chart.Bar{{Value: share}, {Value: 1 - share}}})
			}
		}
		rows = append(rows, append(row, "("+wholePercent(e.published.PrunedEmpty[one.dataset])+")"))
	}
	t.say("%s", e.figure("pruned", "Pruned messages", bars))
	t.table([]string{"", "delta", "training queries", "test queries", "paper"}, rows)
}

// onAStar adds the share of A*Net's messages that the windows save, with 6 layers and with those of the experiments that vary them.
func (e *evidence) onAStar(t *text) {
	t.say("The share of A\\*Net's messages for the test queries that A\\*Net with windows does not send, each as trained. The paper counts in training, at delta 2.")
	var rows [][]string
	for _, dataset := range slices.Concat(transductive, inductive) {
		row, shown := []string{dataset}, false
		for i := range 3 {
			suffix, text := "", "–"
			if i > 0 {
				suffix = fmt.Sprintf("-layers-%d", layers+i)
			}
			astar, both := e.cell(dataset, "astar"+suffix), e.cell(dataset, "window-astar"+suffix)
			if len(astar.Results) > 0 && len(both.Results) > 0 {
				text, shown = percent(1-both.Sent(results.TestProtocol).Mean/astar.Sent(results.TestProtocol).Mean), true
			}
			if paper := e.published.AStarMessagesSaved[dataset]; paper != nil {
				text, shown = text+" ("+wholePercent(paper[i])+")", true
			}
			row = append(row, text)
		}
		if shown {
			rows = append(rows, row)
		}
	}
	t.table([]string{"", "6 layers", "7 layers", "8 layers"}, rows)
}

// distances adds the shares of the test queries by the distance of their answers.
func (e *evidence) distances(t *text) {
	t.say("Distances of the answers of test queries, in edges, and facts per entity.")
	bars := chart.Bars{Label: "edges", X: chart.Axis{Label: "test queries", Format: wholePercent}, Format: percent}
	names := []string{"0", "1", "2", "3", "4", "5", "6 and more"} // 0: the source is an answer
	const last = 6
	for _, name := range names {
		bars.Rows = append(bars.Rows, chart.Row{Name: name})
	}
	var rows [][]string
	for _, dataset := range transductive {
		c, ok := e.counts[dataset]
		if !ok {
			continue
		}
		share := func(distance string) float64 {
			return float64(c.distances.ByDistance[distance]) / float64(max(1, c.distances.Queries))
		}
		bars.Series = append(bars.Series, chart.Key{Name: dataset, Color: len(bars.Series)})
		row := []string{dataset}
		for i, name := range names {
			part := share(name)
			if i == last {
				part = share("6") + share(reach.Key)
			}
			bars.Rows[i].Bars = append(bars.Rows[i].Bars, chart.Bar{Value: part})
			cell := percent(part)
			if part > 0 && part < 0.0005 {
				cell = fmt.Sprintf("%.3f%%", 100*part)
			}
			if i > 0 { // the paper leaves 0 out
				cell += fmt.Sprintf(" (%s)", trimPercent(e.published.Distances[dataset][i-1]))
			}
			row = append(row, cell)
		}
		rows = append(rows, append(row, fmt.Sprintf("%.1f (%.1f)", c.graph.MeanDegree, e.published.MeanDegree[dataset])))
	}
	t.say("%s", e.figure("distances", "Distances of the answers of test queries", bars))
	t.table(slices.Concat([]string{""}, names, []string{"facts per entity"}), rows)
}

// trimPercent writes a share with the digits that it has.
func trimPercent(share float64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%.3f", 100*share), "0"), ".") + "%"
}
