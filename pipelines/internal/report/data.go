package report

import (
	"fmt"
	"slices"

	"tagnet/pipelines/internal/report/chart"
	"tagnet/stages/distances"
	"tagnet/stages/graph"
	"tagnet/stages/statistics"
)

// dataPart returns the section on the graph and the distances of its answers.
func (e *evidence) dataPart() section {
	s := section{ID: dataSection, Title: "Data", Gaps: e.gaps[dataSection]}
	if g := e.graph; g != nil {
		s.Lead = append(s.Lead, fmt.Sprintf("%s, %s of %s: %.1f facts per entity. Each held-out fact gives two queries, one for its tail and one for its head.",
			plural(g.Entities, "entity", "entities"), plural(g.Facts, "fact", "facts"), plural(g.Relations, "relation", "relations"), g.MeanDegree))
		if i := g.InferenceGraph; i != nil {
			s.Lead = append(s.Lead, fmt.Sprintf("Test queries use an inference graph that the model was not trained on, %s, with %s and %s.",
				g.Inference, plural(i.Entities, "entity", "entities"), plural(i.Facts, "fact", "facts")))
		}
		if g.Rejected > 0 {
			s.Lead = append(s.Lead, fmt.Sprintf("%s of the files were rejected; rejects.tsv beside the tables lists them with the reasons.", plural(g.Rejected, "line", "lines")))
		}
		if t := splitTable(g); len(t.Rows) > 0 {
			s.Figures = append(s.Figures, beside(t))
		}
	}
	if e.analysis != nil {
		s.Figures = append(s.Figures, degreeFigure(*e.analysis))
	}
	switch shown := heldOut(e.distances); {
	case len(shown) == 1:
		s.Figures = append(s.Figures, distanceFigure(shown[0]))
	case len(shown) > 1:
		s.Figures = append(s.Figures, distancesFigure(shown))
	}
	if len(e.distances) > 1 {
		s.Figures = append(s.Figures, beside(distancesTable(e.distances)))
	}
	return s
}

// splitTable returns a table with a row for each split.
func splitTable(g *graph.Summary) table {
	t := table{Title: "Queries", Head: []cell{text("Split"), number("Queries"), number("Distinct")},
		Note: "A query is a source and a relation. A query with several answers is propagated once: distinct counts propagations."}
	for _, split := range []string{"train", "valid", "test"} {
		if n, ok := g.Queries[split]; ok {
			distinct := "–"
			if d, ok := g.Distinct[split]; ok {
				distinct = count(d)
			}
			t.Rows = append(t.Rows, []cell{text(split), number(count(n)), number(distinct)})
		}
	}
	return t
}

// heldOut returns the splits without train, if there are others: the graph contains the fact of a
// training query, so that its answer is one edge away.
func heldOut(splits []distances.Distribution) []distances.Distribution {
	shown := slices.DeleteFunc(slices.Clone(splits), func(d distances.Distribution) bool { return d.Split == "train" })
	if len(shown) == 0 {
		return splits
	}
	return shown
}

// whole returns the number of queries of a distribution.
func whole(d distances.Distribution) (sum int64) {
	for _, n := range d.ByDistance {
		sum += n
	}
	return sum
}

// farthest returns the distances of some splits up to the last one that occurs.
func farthest(splits ...distances.Distribution) []string {
	sum := map[string]int64{}
	for _, d := range splits {
		for name, n := range d.ByDistance {
			sum[name] += n
		}
	}
	names := distanceNames(sum)
	for len(names) > 1 && sum[names[len(names)-1]] == 0 {
		names = names[:len(names)-1]
	}
	return names
}

// The name, title and caption of the figures of distances.
const (
	distancesName = "distances"
	howFar        = "Distances of the answers"
	outOfReach    = "A model cannot reach an answer at a distance of more than its layers."
)

// distanceFigure draws the share of queries at each distance.
func distanceFigure(d distances.Distribution) figure {
	all := whole(d)
	c := chart.Bars{
		Title: "Distance of the answers", Description: "Share of the queries of the " + d.Split + " split by the distance of their answer.",
		Label: "edges from source to answer", Y: chart.Axis{Label: "queries", Format: wholePercent}, Format: percent,
	}
	for _, name := range farthest(d) {
		n := d.ByDistance[name]
		c.Bars = append(c.Bars, chart.Bar{Name: shortDistance(name), Value: float64(n) / float64(max(1, all)), Note: "(" + plural(n, "query", "queries") + ")"})
	}
	return newFigure(distancesName, howFar, fmt.Sprintf("Of %s of the %s split, by the number of edges from source to answer. %s",
		plural(all, "query", "queries"), d.Split, outOfReach), c.SVG())
}

// distancesFigure draws the same for several splits.
func distancesFigure(splits []distances.Distribution) figure {
	c := chart.Grouped{
		Title: "Distance of the answers", Description: "Share of the queries of each split by the distance of their answer.",
		Label: "edges", X: chart.Axis{Label: "queries of the split", Format: wholePercent, Most: 1}, Format: percent,
	}
	for _, d := range splits {
		c.Series = append(c.Series, d.Split)
		c.Colours = append(c.Colours, splitColour(d.Split))
	}
	for _, name := range farthest(splits...) {
		group := chart.Group{Name: shortDistance(name)}
		for _, d := range splits {
			n := d.ByDistance[name]
			group.Bars = append(group.Bars, chart.Bar{Value: float64(n) / float64(max(1, whole(d))), Note: "(" + plural(n, "query", "queries") + ")"})
		}
		c.Groups = append(c.Groups, group)
	}
	return newFigure(distancesName, howFar, "By the number of edges from source to answer. "+outOfReach, c.SVG())
}

// distancesTable returns the same as numbers.
func distancesTable(splits []distances.Distribution) table {
	t := table{Title: howFar + ", in numbers", Note: "Queries by the number of edges from source to answer. A training query has its own fact in the graph here, which training removes.", Head: []cell{text("Edges")}}
	for _, d := range splits {
		t.Head = append(t.Head, number(d.Split))
	}
	for _, name := range farthest(splits...) {
		row := []cell{text(shortDistance(name))}
		for _, d := range splits {
			row = append(row, number(count(d.ByDistance[name])))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// splitColour returns the colour of a split in all figures. The colours differ in lightness too.
func splitColour(split string) int {
	switch split {
	case "test":
		return 1
	case "valid":
		return 2
	case "train":
		return 5
	}
	return 4
}

// degreeFigure draws the distribution of in-degrees.
func degreeFigure(a statistics.Analysis) figure {
	c := chart.Grouped{
		Title: "Degrees", Description: "Share of the entities by how many edges enter them.",
		Label: "edges", X: chart.Axis{Label: "entities", Format: wholePercent, Most: 1}, Format: percent,
	}
	graphs, caption := []statistics.Graph{a.Graph}, ""
	c.Series = []string{statistics.Training}
	if a.InferenceGraph != nil {
		graphs = append(graphs, *a.InferenceGraph)
		c.Series = []string{statistics.Training + " graph", statistics.Inference + " graph"}
		caption = fmt.Sprintf(" in the training graph and %s in the inference graph", count(a.InferenceGraph.MostEdges))
	}
	longest := slices.MaxFunc(graphs, func(x, y statistics.Graph) int { return len(x.Degrees) - len(y.Degrees) })
	for i, d := range longest.Degrees {
		group := chart.Group{Name: d.Name()}
		empty := true
		for _, g := range graphs {
			var of statistics.Degree
			if i < len(g.Degrees) {
				of = g.Degrees[i]
			}
			empty = empty && of.Entities == 0
			group.Bars = append(group.Bars, chart.Bar{Value: of.Share, Note: "(" + plural(of.Entities, "entity", "entities") + ")"})
		}
		if i > 0 || !empty {
			c.Groups = append(c.Groups, group)
		}
	}
	return newFigure("degrees", "In-degrees", fmt.Sprintf("In powers of two. A fact is two edges, its own and the inverse; the largest in-degree is %s%s.",
		count(a.MostEdges), caption), c.SVG())
}

// shortDistance returns a label for a distance that fits below a column.
func shortDistance(name string) string {
	if name == "unreached" {
		return "beyond"
	}
	return name
}
