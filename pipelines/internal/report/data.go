package report

import (
	"fmt"
	"slices"

	"tagnet/formats/hop"
	"tagnet/formats/workspace/counts"
	"tagnet/model/graph/kg"
	"tagnet/model/study/chart"
)

// composeData returns the section on the graph and the distances of its answers.
func (e *evidence) composeData() section {
	s := section{ID: dataSection, Title: "Data"}
	if g := e.graph; g != nil {
		s.Lead = append(s.Lead, fmt.Sprintf("%s, %s of %s: %.1f facts per entity. Each held-out fact gives two queries, one for its tail and one for its head.",
			plural(g.Entities, "entity", "entities"), plural(g.Facts, "fact", "facts"), plural(g.Relations, "relation", "relations"), g.MeanDegree))
		if i := g.InferenceGraph; i != nil {
			queries := "Test queries"
			if g.ValidOnInference {
				queries = "Validation and test queries"
			}
			s.Lead = append(s.Lead, fmt.Sprintf(queries+" use an inference graph that the model was not trained on, %s, with %s and %s.",
				g.Inference, plural(i.Entities, "entity", "entities"), plural(i.Facts, "fact", "facts")))
		}
		if g.Rejected > 0 {
			s.Lead = append(s.Lead, fmt.Sprintf("%s of the files were rejected; rejects.tsv beside the tables lists them with the reasons.",
				plural(g.Rejected, "line", "lines")))
		}
		s.Warnings = leaks(g)
		if t := splitTable(g); len(t.Rows) > 0 {
			s.Figures = append(s.Figures, t.figure())
		}
	}
	if len(e.distances) > 0 {
		s.Figures = append(s.Figures, distanceFigure(e.distances))
	}
	if len(e.distances) > 1 {
		s.Figures = append(s.Figures, distanceTable(e.distances).figure())
	}
	return s
}

// leaks returns a warning for each split with facts that its graph also contains.
func leaks(g *counts.Dataset) (warnings []string) {
	for _, split := range []string{"valid", "test"} {
		known, facts := g.Known[split], g.Queries[split]/2
		if known == 0 || facts == 0 {
			continue
		}
		which := "the training graph"
		if split == "test" && g.InferenceGraph != nil || split == "valid" && g.ValidOnInference {
			which = "the inference graph"
		}
		are := "are"
		if known == 1 {
			are = "is"
		}
		warnings = append(warnings, fmt.Sprintf("%s of the %s of the %s split (%s) %s also in %s: the answers to their queries are there to be read, so "+
			"that the metrics of the split are too high.",
			count(known), plural(facts, "fact", "facts"), split, percent(float64(known)/float64(facts)), are, which))
	}
	return warnings
}

func splitTable(g *counts.Dataset) table {
	t := table{Title: "Queries", Head: []string{"Split", "Queries", "Distinct"},
		Note: "A query is a source and a relation. A query with several answers is propagated once: distinct counts propagations."}
	for _, split := range kg.Splits {
		if n, ok := g.Queries[split]; ok {
			distinct := "–"
			if d, ok := g.Distinct[split]; ok {
				distinct = count(d)
			}
			t.add(split, count(n), distinct)
		}
	}
	return t
}

// farthest returns the distances of some splits up to the last one that occurs.
func farthest(splits []counts.Distribution) []string {
	sum := map[string]int64{}
	for _, d := range splits {
		for name, n := range d.ByDistance {
			sum[name] += n
		}
	}
	names := hop.Keys(sum)
	for len(names) > 1 && sum[names[len(names)-1]] == 0 {
		names = names[:len(names)-1]
	}
	return names
}

// distanceFigure draws the share of each split's queries at each distance. It leaves out train if there are others: the
// graph contains the fact of a training query, so that its answer is one edge away.
func distanceFigure(splits []counts.Distribution) figure {
	shown := slices.DeleteFunc(slices.Clone(splits), func(d counts.Distribution) bool { return d.Split == "train" })
	if len(shown) == 0 {
		shown = splits
	}
	c := chart.Bars{Label: "edges", X: chart.Axis{Label: "queries of the split", Format: wholePercent, Most: 1}, Format: percent}
	totals := make([]int64, len(shown))
	for i, d := range shown {
		c.Series = append(c.Series, chart.Key{Name: d.Split, Color: splitColor(d.Split)})
		for _, n := range d.ByDistance {
			totals[i] += n
		}
	}
	for _, name := range farthest(shown) {
		row := chart.Row{Name: shortDistance(name)}
		for i, d := range shown {
			n := d.ByDistance[name]
			row.Bars = append(row.Bars, queriesBar(float64(n)/float64(max(1, totals[i])), n))
		}
		c.Rows = append(c.Rows, row)
	}
	caption := "By the number of edges from source to answer. A model cannot reach an answer at a distance of more than its layers."
	if len(shown) == 1 {
		caption = fmt.Sprintf("Of %s of the %s split. ", plural(totals[0], "query", "queries"), shown[0].Split) + caption
	}
	return newFigure("distances", "Distances of the answers", caption, c)
}

// queriesBar returns a bar that stands for some queries.
func queriesBar(value float64, queries int64) chart.Bar {
	return chart.Bar{Value: value, Note: "(" + plural(queries, "query", "queries") + ")"}
}

// distanceTable returns a table of the queries at each distance.
func distanceTable(splits []counts.Distribution) table {
	t := table{Title: "Distances of the answers, in numbers", Head: []string{"Edges"},
		Note: "Queries by the number of edges from source to answer. A training query has its own fact in the graph here, which training removes."}
	for _, d := range splits {
		t.Head = append(t.Head, d.Split)
	}
	for _, name := range farthest(splits) {
		row := []string{shortDistance(name)}
		for _, d := range splits {
			row = append(row, count(d.ByDistance[name]))
		}
		t.add(row...)
	}
	return t
}

// splitColor returns the color of a split in all figures. The colors differ in lightness too.
func splitColor(split string) int {
	switch split {
	case "test":
		return 0
	case "valid":
		return 1
	case "train":
		return 4
	}
	return 3
}

// shortDistance returns a label for a distance in a figure.
func shortDistance(name string) string {
	if name == hop.Key {
		return "beyond"
	}
	return name
}
