package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"tagnet/formats/workspace/metrics"
	"tagnet/infra/experiments/internal/lists"
	"tagnet/infra/internal/engine"
)

// reachPage is the section of RESULTS.md on models whose queries propagate through a part of the graph.
type reachPage struct {
	lists.Reach
	results map[string]*engine.Result // by the names of the runs
}

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
