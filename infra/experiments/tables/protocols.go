package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/results"
	"tagnet/infra/experiments/internal/comparison"
)

// protocols adds the tables that are comparable with other papers.
func (e *evidence) protocols(t *text) {
	t.say("## Beside other papers")
	t.say("Inductive papers differ in what they rank: only numbers of one protocol are comparable. `score --protocol NAME` evaluates a model by each. They also differ in ties: ours count against the answer, and below them stands what mean ranks of ties give, to which RED-GNN's and GraIL's are closest. Hits@10:")
	for _, name := range metrics.Protocols[1:] {
		t.say("**`%s`**: %s.", name, strings.ReplaceAll(metrics.Protocol(name).About(), "*", "\\*"))
		var rows [][]string
		for _, m := range e.published.Others {
			if m.Protocol != name {
				continue
			}
			row := []string{m.Method + ", published"}
			for _, dataset := range inductive {
				row = append(row, three(m.Figures[dataset]["hits@10"]))
			}
			rows = append(rows, row)
		}
		measured := false
		for _, m := range e.published.Methods {
			row, some := []string{m.Method + ", ours"}, false
			for _, dataset := range inductive {
				c, text := e.cell(dataset, m.Experiment), "–"
				if ours := c.Metric(name, comparison.Hits10); ours.N > 0 {
					some = true
					text = plus(ours) + "<br>mean " + plus(c.Spread(func(r results.Result) (float64, bool) {
						evaluation, ok := r.Evaluation[name]
						return evaluation.Mean.Hits10, ok
					}))
				}
				row = append(row, text)
			}
			if measured = measured || some; some {
				rows = append(rows, row)
			}
		}
		t.table(slices.Concat([]string{""}, inductive), rows)
		if !measured {
			t.say("Ours is not measured yet.")
		}
	}
	t.say("**Transductive**, MRR by the paper's protocol, with other models published since. Ours is the model with the best validation MRR.")
	var rows [][]string
	for _, m := range e.published.Others {
		if m.Protocol != results.TestProtocol {
			continue
		}
		row := []string{m.Method}
		if m.Note != "" {
			row[0] += " (" + m.Note + ")"
		}
		for _, dataset := range transductive {
			text := "–"
			if value, ok := m.Figures[dataset]["mrr"]; ok {
				text = three(value)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	row := []string{"ours"}
	for _, dataset := range transductive {
		row = append(row, e.bestOf(dataset))
	}
	t.table(slices.Concat([]string{""}, transductive), append(rows, row))
}

// bestOf returns the test MRR of the dataset's model with the best validation MRR.
func (e *evidence) bestOf(dataset string) string {
	var groups []comparison.Group
	for _, key := range slices.Sorted(maps.Keys(e.cells)) {
		if c := e.cells[key]; c.Dataset == dataset {
			groups = append(groups, c.Group)
		}
	}
	chosen, ok := comparison.Best(groups)
	if !ok {
		return "–"
	}
	return fmt.Sprintf("**%s** (`%s`)", plus(chosen.Metric(results.TestProtocol, comparison.MRR)), chosen.Name())
}
