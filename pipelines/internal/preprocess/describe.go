package preprocess

import (
	"fmt"
	"strings"

	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/progress"
	"tagnet/stages/graph"
)

// describe prints the sizes of the graph, and which lines were left out.
func describe(e *command.Environment, s graph.Summary) {
	e.Say("")
	if s.InferenceGraph == nil {
		e.Say("%-28s%14s", s.Dataset, "graph")
	} else {
		e.Say("%-28s%14s%18s", s.Dataset, "training graph", "inference graph")
	}
	row := func(label, training string, inference func(graph.GraphSummary) string) {
		line := fmt.Sprintf("  %-26s%14s", label, training)
		if s.InferenceGraph != nil && inference != nil {
			line += fmt.Sprintf("%18s", inference(*s.InferenceGraph))
		}
		e.Say("%s", line)
	}
	row("entities", progress.Count(s.Entities), func(g graph.GraphSummary) string { return progress.Count(g.Entities) })
	row("relations", progress.Count(s.Relations), nil)
	row("facts (train.txt)", progress.Count(s.Facts), func(g graph.GraphSummary) string { return progress.Count(g.Facts) })
	row("edges, both directions", progress.Count(s.Edges), func(g graph.GraphSummary) string { return progress.Count(g.Edges) })
	row("facts per entity", fmt.Sprintf("%.1f", s.MeanDegree), func(g graph.GraphSummary) string { return fmt.Sprintf("%.1f", g.MeanDegree) })
	if s.Types != nil {
		row("types", progress.Count(s.Types.Types), func(g graph.GraphSummary) string { return progress.Count(g.Types.Types) })
		row("entities with a type", progress.Count(s.Types.Entities), func(g graph.GraphSummary) string { return progress.Count(g.Types.Entities) })
	}
	e.Say("")
	e.Say("  %-8s%12s%12s%22s", "split", "facts", "queries", "distinct queries")
	for _, split := range kg.Splits {
		e.Say("  %-8s%12s%12s%22s", split, progress.Count(s.Queries[split]/2), progress.Count(s.Queries[split]), progress.Count(s.Distinct[split]))
	}
	e.Say("")
	e.Say("  left out: %s; kept: %s", leftOut(s), kept(s))
	e.Say("")
}

// leftOut describes the lines that are not in the tables.
func leftOut(s graph.Summary) string {
	var list []string
	for _, split := range append(kg.Splits, "inference") {
		if n := s.Repeated[split]; n > 0 {
			file := split + ".txt"
			if split == "inference" {
				file = "the inference graph's train.txt"
			}
			list = append(list, fmt.Sprintf("%s in %s", plural(n, "repeated fact"), file))
		}
	}
	if s.Rejected > 0 {
		list = append(list, plural(s.Rejected, "rejected line")+" (rejects.tsv has the reasons)")
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

// kept mentions facts that are in two splits.
func kept(s graph.Summary) string {
	var list []string
	for _, split := range []string{"valid", "test"} {
		if n := s.Known[split]; n > 0 {
			list = append(list, fmt.Sprintf("%s of %s that the graph also contains", plural(n, "fact"), split))
		}
	}
	if len(list) == 0 {
		return "everything else"
	}
	return "everything else, also " + strings.Join(list, ", ")
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return progress.Count(n) + " " + what + "s"
}
