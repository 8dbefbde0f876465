package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/infra/experiments/internal/zeroshot"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/pretrained"
)

// zeroshotPage is the generated page of models of any graph.
const zeroshotPage = "ZEROSHOT.md"

// transfer holds the inputs of the page of models of any graph. It is nil in a folder without their list.
type transfer struct {
	zeroshot.List
	zeroshot.Results
}

// readTransfer reads the list of a folder, and its results.
func readTransfer(ctx context.Context, folder string) (*transfer, error) {
	list, err := zeroshot.ReadList(ctx, filepath.Join(folder, zeroshot.ListFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := list.ReadResults(ctx, filepath.Join(folder, filepath.FromSlash(zeroshot.ResultsFolder)))
	return &transfer{list, all}, err
}

// page returns ZEROSHOT.md.
func (z *transfer) page() string {
	t := &text{}
	t.say("<!-- Written by `go run ./infra/experiments/tables` (`make results`) from zeroshot.json and zeroshot/results/: change those instead. -->")
	t.say("# Models of any graph")
	t.say("Models that answer on any graph, measured on graphs that most of them were not trained on. [zeroshot.json](zeroshot.json) lists graphs and models, [go run ./infra/experiments/zeroshot](README.md#models-of-any-graph) measures them.")
	t.list(z.Protocol)
	if len(z.Results) == 0 {
		t.say("Nothing is measured yet.")
		return t.file()
	}
	t.say("† The model was trained on facts of the graph.%s", z.trained())
	t.say("## Zero-shot")
	z.quality(t, false)
	if len(z.Measured(z.Models, z.Graphs, true)) > 0 {
		t.say("## Fine-tuned")
		z.quality(t, true)
	}
	z.costs(t)
	z.made(t)
	return t.file()
}

// trained says what the models were trained on, as far as it is published.
func (z *transfer) trained() (text string) {
	for _, m := range z.Models {
		if graphs := pretrained.Graphs(checkpoint.Origin{SHA256: m.SHA256}); graphs != "" {
			text += fmt.Sprintf(" %s: %s.", m.Name, graphs)
		} else if m.TrainedAs != "" {
			text += fmt.Sprintf(" %s: the same as %s.", m.Name, m.TrainedAs)
		}
	}
	return text
}

// quality adds the metrics of all models: of the graphs that count with their means, then of those that are listed apart.
func (z *transfer) quality(t *text, tuned bool) {
	head := []string{""}
	for _, m := range z.Models {
		head = append(head, m.Name+" MRR", "Hits@10")
		if tuned {
			head = append(head, "training, s")
		}
	}
	var counted, apart [][]string
	for _, g := range z.Graphs {
		switch row, any := z.row(g, tuned); {
		case tuned && !any:
		case g.Apart:
			apart = append(apart, row)
		default:
			counted = append(counted, row)
		}
	}
	models := z.Measured(z.Models, z.Graphs, tuned)
	common := z.Common(models, z.Graphs, tuned)
	unseen := slices.DeleteFunc(slices.Clone(common), func(g zeroshot.Graph) bool {
		return slices.ContainsFunc(models, func(m zeroshot.Model) bool { return z.Seen(m, g) })
	})
	counted = append(counted,
		z.means(fmt.Sprintf("**mean of %d**", len(common)), models, common, tuned), z.means(fmt.Sprintf("**of the %d without †**", len(unseen)), models, unseen, tuned))
	t.table(head, counted)
	t.say("The means are over the graphs with results of each of %s; the second one is over those of which none of these is known to have seen facts.", namesOf(models))
	if len(apart) > 0 {
		t.say("Listed apart:")
		t.table(head, apart)
	}
}

// row returns the metrics of a graph, and whether a model has any.
func (z *transfer) row(g zeroshot.Graph, tuned bool) (row []string, any bool) {
	row = []string{g.Name}
	for _, m := range z.Models {
		measured, ok := z.Of(g, m, tuned)
		if !ok {
			row = append(row, blank(tuned)...)
			continue
		}
		any = true
		r, mark := z.result(g, m), ""
		if z.Seen(m, g) {
			mark = " †"
		}
		if r.Limit > 0 {
			mark += fmt.Sprintf("<br>(%d queries only)", measured.Queries)
		}
		row = append(row, three(measured.Pessimistic.MRR)+mark, three(measured.Pessimistic.Hits10))
		if tuned {
			row = append(row, seconds(r.FineTuned.TrainingCPUSeconds))
		}
	}
	return row, any
}

// means returns a row of means over graphs that all of some models are measured on.
func (z *transfer) means(title string, models []zeroshot.Model, graphs []zeroshot.Graph, tuned bool) []string {
	row := []string{title}
	for _, m := range z.Models {
		if len(graphs) == 0 || !slices.Contains(models, m) {
			row = append(row, blank(tuned)...)
			continue
		}
		mean, _, _ := z.Mean(m, graphs, tuned)
		row = append(row, "**"+three(mean.MRR)+"**", "**"+three(mean.Hits10)+"**")
		if tuned {
			total := 0.0
			for _, g := range graphs {
				total += z.result(g, m).FineTuned.TrainingCPUSeconds
			}
			row = append(row, seconds(total/float64(len(graphs))))
		}
	}
	return row
}

// blank are the cells of a model that is not measured.
func blank(tuned bool) []string {
	if tuned {
		return []string{"–", "–", "–"}
	}
	return []string{"–", "–"}
}

// costs compares the processor time and the messages of zero-shot scoring with those of the first model.
func (z *transfer) costs(t *text) {
	first, others := z.Models[0], z.Models[1:]
	head := []string{"", "queries", "out of reach", first.Name + ", s", "messages"}
	for _, m := range others {
		head = append(head, m.Name+" time", "messages")
	}
	var rows [][]string
	for _, g := range z.Graphs {
		base, ok := z.Of(g, first, false)
		if !ok {
			continue
		}
		row := []string{g.Name, grouped(base.Queries), percent(float64(base.Unreached) / float64(base.Queries)), seconds(base.CPUSeconds), grouped(base.Messages)}
		for _, m := range others {
			measured, ok := z.Of(g, m, false)
			if !ok || z.result(g, m).Limit != z.result(g, first).Limit {
				row = append(row, "–", "–")
				continue
			}
			row = append(row, ratio(measured.CPUSeconds, base.CPUSeconds), ratio(float64(measured.Messages), float64(base.Messages)))
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return
	}
	rows = append(rows, z.totals())
	t.say("## Processor time and messages")
	t.say("Of zero-shot scoring: the whole command with one thread, and the messages between entities. Columns of other models are shares of %s's. The messages are the same on every machine, and the metrics but for rounding; the machine did other work, too, which changes the time by tens of percent. Out of reach are the queries whose answer no message of %[1]s reaches.", first.Name)
	t.table(head, rows)
}

// totals returns the sums of the costs over the graphs that count, and their shares of the first model's.
func (z *transfer) totals() []string {
	models := z.Measured(z.Models, z.Graphs, false)
	common := z.Common(models, z.Graphs, false)
	_, time, messages := z.Mean(z.Models[0], common, false)
	var queries, unreached int64
	for _, g := range common {
		m, _ := z.Of(g, z.Models[0], false)
		queries, unreached = queries+m.Queries, unreached+m.Unreached
	}
	row := []string{fmt.Sprintf("**sum of the %d in the mean**", len(common)), grouped(queries), percent(float64(unreached) / float64(queries)), seconds(time), grouped(messages)}
	for _, m := range z.Models[1:] {
		if !slices.Contains(models, m) {
			row = append(row, "–", "–")
			continue
		}
		_, t, n := z.Mean(m, common, false)
		row = append(row, ratio(t, time), ratio(float64(n), float64(messages)))
	}
	return row
}

// made says with which programs and on which machines the results were measured.
func (z *transfer) made(t *text) {
	programs := map[string]int{}
	for _, r := range z.Results {
		m := r.ZeroShot
		programs[m.Machine.Processor+", "+commitOf(m.Commit, m.Modified)]++
	}
	t.made(programs)
}

// made lists what results were measured with, and how many with each.
func (t *text) made(programs map[string]int) {
	t.say("## How it was measured")
	var lines []string
	for _, program := range slices.Sorted(maps.Keys(programs)) {
		lines = append(lines, fmt.Sprintf("%d results on %s", programs[program], program))
	}
	t.list(lines)
}

// commitOf describes the commit of a program.
func commitOf(commit string, modified bool) string {
	text := "commit " + cmp.Or(commit, "unknown")
	if modified {
		text += " with changes"
	}
	return text
}

func (z *transfer) result(g zeroshot.Graph, m zeroshot.Model) zeroshot.Result {
	return z.Results[[2]string{g.Name, m.Name}]
}

// namesOf lists models.
func namesOf(models []zeroshot.Model) string {
	var list []string
	for _, m := range models {
		list = append(list, m.Name)
	}
	return strings.Join(list, ", ")
}

func seconds(s float64) string { return fmt.Sprintf("%.1f", s) }

// ratio writes a share of a sum that may be 0.
func ratio(a, b float64) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", a/b)
}

// grouped writes a number with commas.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
