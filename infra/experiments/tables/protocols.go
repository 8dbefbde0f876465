package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"tagnet/formats/results"
	"tagnet/pipelines/comparison"
)

// protocolNotes says what each protocol of score other than the paper's ranks, and whose numbers it is comparable with.
var protocolNotes = []struct{ name, says string }{
	{"valid-and-test", "The validation and test facts of the inference graph together, among all entities, as RED-GNN, AdaProp, A\\*Net and ULTRA do."},
	{"grail", "Test facts, each answer among 49 random negatives, as GraIL does. Three digits of such a number depend on the draw."},
}

// protocols adds the tables that are comparable with other papers.
func (e *evidence) protocols(t *text) {
	t.say("## Beside other papers")
	t.say("Inductive papers differ in what they rank: only numbers of one protocol are comparable. `score --protocol NAME` evaluates a model by each. Hits@10:")
	for _, p := range protocolNotes {
		t.say("**`%s`**: %s", p.name, p.says)
		var rows [][]string
		for _, m := range e.published.Others {
			if m.Protocol != p.name {
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
				ours := e.cell(dataset, m.Experiment).Metric(p.name, comparison.Hits10)
				some = some || ours.N > 0
				row = append(row, plus(ours))
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
	var chosen *cell
	for _, key := range slices.Sorted(maps.Keys(e.cells)) {
		c := e.cells[key]
		if c.Dataset == dataset && best(c.Group).N > 0 && (chosen == nil || cmp.Compare(best(c.Group).Mean, best(chosen.Group).Mean) > 0) {
			chosen = c
		}
	}
	if chosen == nil {
		return "–"
	}
	return fmt.Sprintf("**%s** (`%s`)", plus(chosen.Metric(results.TestProtocol, comparison.MRR)), chosen.Name())
}
