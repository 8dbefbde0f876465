package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/formats/workspace/metrics"
	"tagnet/infra/experiments/internal/reach"
	"tagnet/model/study/chart"
)

// parts holds the inputs of the section on models whose queries propagate through a part of the graph.
type parts struct {
	reach.List
	items   []reach.Item
	results []reach.Result // of the items; without Trained and Scored where they are not measured
}

// readParts reads the list of a folder and its results. It is nil without a list.
func readParts(ctx context.Context, folder string) (*parts, error) {
	list, err := reach.ReadList(ctx, filepath.Join(folder, reach.ListFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	p := &parts{List: list}
	if p.items, err = list.Items(""); err != nil {
		return nil, err
	}
	for _, i := range p.items {
		r, err := i.Read(ctx, filepath.Join(folder, filepath.FromSlash(reach.ResultsFolder)))
		if err != nil {
			return nil, err
		}
		p.results = append(p.results, r)
	}
	return p, nil
}

// reaches adds the section.
func (e *evidence) reaches(t *text) {
	p := e.parts
	if p == nil {
		return
	}
	t.say("## A part of the graph")
	t.say("Models whose queries propagate through the entities of the largest personalized PageRank from their source ([`--reach`](../../pipelines/README.md#a-part-of-the-graph)), by the share of the graph's entities that these are. [reach.json](reach.json) lists sets and shares, `go run ./infra/experiments/reach` measures them.")
	t.list(p.Protocol)
	t.say("Reached: the queries whose answer some message reaches; neither it nor the messages depend on the model. Messages are those of a distinct query in scoring. Seconds are of processor time on one thread: of `train` for an epoch, with its validation, and of `score`. MiB: the peak resident memory of `train`. Parentheses have 95%% intervals of a sample.")
	for _, s := range p.Sets {
		e.reachesOf(t, s)
	}
	programs := map[string]int{}
	for _, r := range p.results {
		if r.Trained != nil {
			programs[r.Machine.Processor+", "+commitOf(r.Commit, r.Modified)]++
		}
	}
	var words []string
	for _, program := range slices.Sorted(maps.Keys(programs)) {
		words = append(words, fmt.Sprintf("%s (%d)", program, programs[program]))
	}
	if len(words) > 0 {
		t.say("Measured on %s.", strings.Join(words, "; "))
	}
}

// reachesOf adds the table and the chart of a set.
func (e *evidence) reachesOf(t *text, s reach.Set) {
	var rows [][]string
	trained := chart.Series{Key: chart.Key{Name: "trained with the reach"}}
	scored := chart.Series{Key: chart.Key{Name: "only scored with it", Color: 1}, Dashed: true}
	for i := range e.parts.items {
		item, r := e.parts.items[len(e.parts.items)-1-i], e.parts.results[len(e.parts.items)-1-i]
		if item.Name != s.Name {
			continue
		}
		repeat := fmt.Sprintf("`go run ./infra/experiments/reach --only %s --force`", item.ID())
		row := []string{fmt.Sprintf("%d%%", item.Percent), "not measured", "", "", "", "", "", "", "", "", "", repeat}
		if tr := r.Trained; tr != nil {
			m := tr.Measured
			row = []string{row[0], grouped(int64(r.Reach)), of(m, m.Pessimistic.MRR, mrr), of(m, m.Pessimistic.Hits10, hits10), "not measured", "", percent(1 - float64(m.Unreached)/float64(m.Queries)),
				grouped(m.Messages / m.Distinct), seconds(tr.Training.CPUSeconds / float64(tr.Training.Epochs)), seconds(m.CPUSeconds), fmt.Sprintf("%.0f", tr.Training.PeakMiB), repeat}
			trained.Points = append(trained.Points, chart.Point{X: float64(item.Percent), Y: m.Pessimistic.MRR})
			if item.Percent == reach.Whole {
				row[4], row[5] = "the same", ""
				scored.Points = append(scored.Points, trained.Points[len(trained.Points)-1])
			}
		}
		if m := r.Scored; m != nil {
			row[4], row[5] = of(*m, m.Pessimistic.MRR, mrr), of(*m, m.Pessimistic.Hits10, hits10)
			scored.Points = append(scored.Points, chart.Point{X: float64(item.Percent), Y: m.Pessimistic.MRR})
		}
		rows = append(rows, row)
	}
	t.say("**%s**: `train %s`%s", s.Name, s.Train, scoring(s))
	if len(trained.Points)+len(scored.Points) == 0 {
		t.say("Not measured: `go run ./infra/experiments/reach --only %s`.", s.Name)
		return
	}
	if len(trained.Points) > 1 {
		t.say("%s", e.figure("reach-"+s.Name, s.Name+": MRR by the share of the entities", chart.Lines{
			X: chart.Axis{Label: "share of the entities", Log: true, Format: func(v float64) string { return fmt.Sprintf("%.0f%%", v) }},
			Y: chart.Axis{Label: "MRR", Format: three}, Series: []chart.Series{trained, scored}}))
	}
	t.table([]string{"share", "entities", "trained: MRR", "Hits@10", "only scored: MRR", "Hits@10", "reached", "messages", "training, s", "scoring, s", "MiB", "repeat"}, rows)
}

// scoring says how many queries of a set are ranked, if not all.
func scoring(s reach.Set) string {
	if s.Limit == 0 {
		return "."
	}
	return fmt.Sprintf(", `score --limit %d`.", s.Limit)
}

// of writes a metric, of a sample with its interval.
func of(m reach.Measured, value float64, which func(metrics.Intervals) metrics.Interval) string {
	if m.Sample == nil || m.Sample.Intervals == nil {
		return three(value)
	}
	i := which(*m.Sample.Intervals)
	return fmt.Sprintf("%s (%s–%s)", three(value), three(i.Low), three(i.High))
}

func mrr(i metrics.Intervals) metrics.Interval    { return i.MRR }
func hits10(i metrics.Intervals) metrics.Interval { return i.Hits10 }
