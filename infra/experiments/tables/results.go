package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"tagnet/formats/hop"
	"tagnet/infra/internal/engine"
)

// Numbers returns the numbers of a method on datasets, with their metrics in the order of the tables.
func (e *evidence) Numbers(m method, datasets []string) (list []number) {
	for _, dataset := range datasets {
		for _, metric := range []string{"MRR", "Hits@1", "Hits@10"} {
			if paper, ok := m.Figures[dataset][strings.ToLower(metric)]; ok {
				list = append(list, newNumber(e.Model(dataset, m.Experiment), m.Method, metric, paper))
			}
		}
	}
	return list
}

func (e *evidence) mainNumbers() (list []number) {
	for _, datasets := range [][]string{transductive, inductive} {
		for _, m := range e.Published.Methods {
			list = append(list, e.Numbers(m, datasets)...)
		}
	}
	return list
}

// Signs counts the numbers of the main tables by their signs, all of them as "all", and as "seeds" those below the
// paper's by less than a standard error of the seeds.
func (e *evidence) Signs() map[string]int {
	count := map[string]int{}
	for _, n := range e.mainNumbers() {
		count["all"]++
		count[n.Sign()]++
		if below := n.Sign() == "≈" || n.Sign() == "▼"; below && n.Difference() >= -n.OfSeeds {
			count["seeds"]++
		}
	}
	return count
}

// pair is NBFNet on a dataset, and fixed delta with the same hyperparameters.
type pair struct{ Fixed, Full *model }

// Pairs returns the datasets that both were trained on. Fixed delta may be trained for fewer epochs than that
// of the main tables.
func (e *evidence) Pairs() (list []pair) {
	for _, dataset := range everywhere {
		full := e.Model(dataset, "full")
		for _, m := range e.all() {
			same := full.Configuration
			same.Policy, same.DegreeMessages, same.ShareStates = m.Configuration.Policy, m.Configuration.DegreeMessages, m.Configuration.ShareStates
			if m.Dataset == dataset && m.Experiment == "fixed" && m.Configuration == same && len(m.Results) > 0 && len(full.Results) > 0 {
				list = append(list, pair{m, full})
				break
			}
		}
	}
	return list
}

// Error returns the standard error of the difference of a metric, with that of the queries.
func (p pair) Error(metric string) float64 {
	return math.Hypot(newNumber(p.Fixed, "", metric, 0).StandardError(), newNumber(p.Full, "", metric, 0).StandardError())
}

// NotLower counts the pairs neither of whose metrics is lower than NBFNet's by more than a standard error.
func (e *evidence) NotLower() (n int) {
	for _, p := range e.Pairs() {
		lower := func(metric string) bool {
			return p.Fixed.Metric(metric).Mean-p.Full.Metric(metric).Mean < -p.Error(metric)
		}
		if !lower("MRR") && !lower("Hits@10") {
			n++
		}
	}
	return n
}

// atDistance is the number of queries and the Hits@10 of a pair by the distance of the answer.
type atDistance struct {
	Queries      int64
	Ours, Theirs spread
}

// ByDistance returns the columns of answers 1 to 6 edges away, of all these, and beyond; nil if a result is too early
// to have them.
func (p pair) ByDistance() (columns []atDistance) {
	for _, names := range [][]string{{"1"}, {"2"}, {"3"}, {"4"}, {"5"}, {"6"}, {"0", "1", "2", "3", "4", "5", "6"}, {hop.Key}} {
		var c atDistance
		c.Queries, c.Ours = p.Fixed.atDistances(names)
		_, c.Theirs = p.Full.atDistances(names)
		columns = append(columns, c)
	}
	if all := columns[6]; all.Ours.N == 0 || all.Theirs.N == 0 {
		return nil
	}
	return columns
}

// Degrees returns the ablation of degree messages on a dataset: specific delta without and with them.
func (e *evidence) Degrees(dataset string) (pair [2]number) {
	without, with := e.Model(dataset, "specific-degree"), e.Model(dataset, "specific")
	if without.Configuration.DegreeMessages {
		without, with = with, without
	}
	p := e.Published.DegreeMessages
	pair[0] = newNumber(without, "specific, without degree messages", "Hits@10", p.Without[dataset]["hits@10"])
	pair[1] = newNumber(with, "specific, with degree messages", "Hits@10", p.With[dataset]["hits@10"])
	return pair
}

// BestOf returns the model of a dataset with the highest MRR of all validation queries, by which models are chosen, not
// by the test split. One that was validated on some of them does not compare.
func (e *evidence) BestOf(dataset string) (best *model) {
	for _, m := range e.all() {
		if sampled := slices.ContainsFunc(m.Results, func(r *engine.Result) bool { return r.Inputs["valid_limit"] != "0" }); sampled {
			continue
		}
		if s := m.Validation(0); m.Dataset == dataset && s.N > 0 && (best == nil || s.Mean > best.Validation(0).Mean) {
			best = m
		}
	}
	return best
}

// Deltas returns the models of fixed delta on a dataset that differ in delta only, by delta.
func (e *evidence) Deltas(dataset string) (list []*model) {
	for _, m := range e.all() {
		if _, varied := m.Varied["delta"]; m.Dataset == dataset && m.Experiment == "fixed" && (len(m.Varied) == 0 || varied && len(m.Varied) == 1) {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b *model) int { return a.Configuration.Delta - b.Configuration.Delta })
	return list
}

// ofPaper reports whether a table above the further experiments shows a model: one of the main tables, of the ablation
// or of quality by delta.
func (e *evidence) ofPaper(m *model) bool {
	if len(m.Varied) > 0 {
		return slices.Contains(e.Deltas(m.Dataset), m)
	}
	return m.Experiment == "specific-degree" || slices.ContainsFunc(e.Published.Methods, func(p method) bool {
		return p.Experiment == m.Experiment && p.Figures[m.Dataset] != nil
	})
}

// Further returns fixed delta on a dataset, and the models with results there that are not in the
// paper; none without any.
func (e *evidence) Further(dataset string) []*model {
	list := []*model{e.Model(dataset, "fixed")}
	for _, m := range e.all() {
		if m.Dataset == dataset && len(m.Results) > 0 && !e.ofPaper(m) {
			list = append(list, m)
		}
	}
	if len(list) == 1 {
		return nil
	}
	return list
}

// note is a note with its title, and the numbers of the main tables that it is about.
type note struct{ Title, Numbers, Text string }

// Explained returns a note for each model of the main tables that is lower than the paper's, and the other notes on
// models of the paper.
func (e *evidence) Explained() (list []note) {
	shown := map[string]int{}
	for _, n := range e.mainNumbers() {
		cell := n.Cell()
		if n.Sign() != "▼" && (e.Notes[cell] == "" || n.Sign() == "") {
			continue
		}
		if at, ok := shown[cell]; ok {
			list[at].Numbers += "; " + n.Against()
			continue
		}
		shown[cell] = len(list)
		text := e.Notes[cell]
		if text == "" {
			text = fmt.Sprintf("**Not explained**: a section `## %s` of [notes.md](notes.md) has to say what was tried.", cell)
		}
		list = append(list, note{cell, n.Against(), text})
	}
	for _, cell := range slices.Sorted(maps.Keys(e.Notes)) {
		if _, ok := shown[cell]; !ok && e.models[cell] != nil && e.ofPaper(e.models[cell]) {
			list = append(list, note{Title: cell, Text: e.Notes[cell]})
		}
	}
	return list
}

func (e *evidence) Machines() []count {
	var all []*engine.Result
	for _, m := range e.all() {
		all = append(all, m.Results...)
	}
	return by(all, machine)
}

// EveryCell returns all numbers of the main tables and of the ablation.
func (e *evidence) EveryCell() (list []number) {
	for _, dataset := range everywhere {
		for _, m := range e.Published.Methods {
			list = append(list, e.Numbers(m, []string{dataset})...)
		}
		for _, n := range e.Degrees(dataset) {
			if n.Experiment == "specific-degree" && n.List != "" {
				list = append(list, n)
			}
		}
	}
	for i := range list {
		list[i].First = i == 0 || list[i-1].Cell() != list[i].Cell()
	}
	return list
}
