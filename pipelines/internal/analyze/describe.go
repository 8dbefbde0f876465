package analyze

import (
	"context"
	"fmt"

	"tagnet/formats/analysis"
	"tagnet/formats/reach"
	"tagnet/formats/storage"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/progress"
)

// describe prints the analysis, the output files and the next commands. made and page report whether
// this run wrote the analysis and the report.
func (f *flags) describe(ctx context.Context, e *command.Environment, made, page bool) error {
	folder := e.Workspace.Analysis()
	a, err := analysis.Read(ctx, folder)
	if err != nil {
		return err
	}
	e.Say("")
	e.Say("%s", named(a))
	describeGraph(e, analysis.Training, a.Graph)
	if a.InferenceGraph != nil {
		describeGraph(e, analysis.Inference, *a.InferenceGraph)
	}
	f.describeDistances(e, a)
	for _, layers := range f.layerList {
		f.describeMessages(e, a, layers)
	}
	e.Say("")
	e.Outputs(made, storage.Join(folder, analysis.File), storage.Join(folder, analysis.SharesFile))
	e.Outputs(page, pageURL(e.Workspace))
	e.Next(e.Workspace.Command("report", "--open"), e.Workspace.Command("train"))
	return nil
}

func named(a analysis.Analysis) string {
	if a.Inference == "" {
		return a.Dataset
	}
	return a.Dataset + ", test queries on " + a.Inference
}

func describeGraph(e *command.Environment, name string, g analysis.Graph) {
	e.Say("  %s graph: %s entities, %s facts, %.1f facts per entity; at most %s edges at an entity",
		name, progress.Count(g.Entities), progress.Count(g.Facts), g.MeanDegree, progress.Count(g.MostEdges))
}

// describeDistances prints a row for each split and a column for each distance of any split.
func (f *flags) describeDistances(e *command.Environment, a analysis.Analysis) {
	all := analysis.Split{ByDistance: map[string]analysis.AtDistance{}}
	for _, split := range a.Splits {
		for at, d := range split.ByDistance {
			all.ByDistance[at] = d
		}
	}
	columns := reach.Keys(all.ByDistance)
	e.Say("")
	line := fmt.Sprintf("  %-6s %10s", "split", "queries")
	for _, at := range columns {
		line += fmt.Sprintf(" %9s", at)
	}
	e.Say("%s  (edges from source to answer)", line)
	for _, name := range f.splitList {
		split := a.Splits[name]
		line := fmt.Sprintf("  %-6s %10s", name, progress.Count(split.Queries))
		for _, at := range columns {
			d, searched := split.ByDistance[at]
			text := "-"
			if searched || at == "0" {
				text = percent(d.Share)
			}
			line += fmt.Sprintf(" %9s", text)
		}
		e.Say("%s", line)
	}
	if _, ok := a.Splits["train"]; ok {
		e.Say("  (training queries have their own fact in the graph here, but not while messages are counted)")
	}
}

// describeMessages prints a row for each split and delta.
func (f *flags) describeMessages(e *command.Environment, a analysis.Analysis, layers int) {
	e.Say("")
	e.Say("  messages a query, %d layers", layers)
	e.Say("  %-6s %6s %12s %12s %8s %12s %8s %12s %8s   %s", "split", "delta", "sent", "of all", "saved", "of not empty", "saved", "kept", "saved", "pruned: empty, redundant")
	for _, name := range f.splitList {
		for _, m := range a.Splits[name].Messages {
			if m.Layers != layers {
				continue
			}
			ofAll, ofNotEmpty := m.Saved()
			perQuery := func(n int64) string { return mean(float64(n) / float64(max(1, a.Splits[name].Queries))) }
			e.Say("  %-6s %6d %12s %12s %8s %12s %8s %12s %8s   %12s %11s", name, m.Delta, perQuery(m.Sent()), mean(m.NBFNetPerQuery), percent(ofAll),
				perQuery(m.NotEmpty()), percent(ofNotEmpty), mean(m.KeptPerQuery), percent(m.Decrease), percent(m.PrunedEmptyShare), percent(m.PrunedRedundantShare))
		}
	}
}

// mean formats a mean of counts.
func mean(v float64) string { return progress.Count(int64(v + 0.5)) }

// percent formats a share with two decimals. It does not round a share to 0% or 100%.
func percent(share float64) string {
	switch {
	case share > 0 && share < 0.00005:
		return "<0.01%"
	case share < 1 && share > 0.99995:
		return ">99.99%"
	}
	return fmt.Sprintf("%.2f%%", 100*share)
}
