package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"tagnet/formats/workspace/metrics"
	"tagnet/infra/experiments/internal/lists"
	"tagnet/infra/internal/engine"
	"tagnet/model/study/chart"
)

// reachPage is the section of RESULTS.md on models whose queries propagate through a part of the graph.
type reachPage struct {
	lists.Reach
	results  map[string]*engine.Result // by the names of the runs
	evidence *evidence
}

// readReach reads the list of a folder and its results.
func readReach(ctx context.Context, folder string, e *evidence) (*reachPage, error) {
	l, err := lists.Read[lists.Reach](ctx, filepath.Join(folder, "reach.json"))
	if err != nil {
		return nil, err
	}
	p := &reachPage{Reach: l, evidence: e}
	p.results, err = readResults(ctx, filepath.Join(folder, lists.ReachResults), l.Runs())
	return p, err
}

// Results returns the results of a set, by percent.
func (p *reachPage) Results(s lists.Set) (measured []*engine.Result) {
	for _, percent := range p.Percents {
		if r := p.results[s.RunName(percent)]; r != nil {
			measured = append(measured, r)
		}
	}
	return measured
}

// Percent returns the share of the entities that a query of a result propagates through.
func (p *reachPage) Percent(r *engine.Result) int {
	percent, _ := strconv.Atoi(r.Inputs["percent"])
	return percent
}

// Entities returns how many entities these are.
func (p *reachPage) Entities(r *engine.Result) int64 {
	return lists.Share(r.Graph.Entities, p.Percent(r))
}

// Figure draws the MRR of a set by the share of the entities.
func (p *reachPage) Figure(s lists.Set) string {
	trained := chart.Series{Key: chart.Key{Name: "trained with the reach"}}
	scored := chart.Series{Key: chart.Key{Name: "only scored with it", Color: 1}, Dashed: true}
	for _, r := range p.Results(s) {
		own, only := r.Commands[lists.ScoreCommand].Evaluation, r.Commands[lists.OnlyScored].Evaluation
		trained.Points = append(trained.Points, chart.Point{X: float64(p.Percent(r)), Y: own.Pessimistic.MRR})
		scored.Points = append(scored.Points, chart.Point{X: float64(p.Percent(r)), Y: cmp.Or(only, own).Pessimistic.MRR}) // of the whole graph they are the same
	}
	return p.evidence.figure("reach-"+s.Name, s.Name+": MRR by the share of the entities", chart.Lines{
		X: chart.Axis{Label: "share of the entities", Log: true, Format: func(v float64) string { return fmt.Sprintf("%.0f%%", v) }},
		Y: chart.Axis{Label: "MRR", Format: three}, Series: []chart.Series{trained, scored}})
}

// Programs counts the results by processor and program.
func (p *reachPage) Programs() []count { return by(slices.Collect(maps.Values(p.results)), processor) }

// interval writes a metric, of a sample with its interval.
func interval(e *engine.Evaluation, name string) string {
	value := three(metricsOf[name](e.Pessimistic))
	if e.Sample == nil || e.Sample.Intervals == nil {
		return value
	}
	i := map[string]metrics.Interval{"MRR": e.Sample.Intervals.MRR, "Hits@10": e.Sample.Intervals.Hits10}[name]
	return fmt.Sprintf("%s (%s–%s)", value, three(i.Low), three(i.High))
}
