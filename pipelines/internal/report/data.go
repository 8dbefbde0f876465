package report

import (
	"fmt"
	"slices"

	"tagnet/pipelines/internal/report/chart"
	"tagnet/stages/distances"
	"tagnet/stages/graph"
	"tagnet/stages/statistics"
)

// dataPart shows the graph and how far its answers are.
func (e *evidence) dataPart() section {
	s := section{ID: dataSection, Title: "Data", Gaps: e.gaps[dataSection]}
	if g := e.graph; g != nil {
		s.Lead = append(s.Lead, fmt.Sprintf("%s are joined by %s of %s. That is %.1f facts per entity. Each held-out fact is asked twice: once for its tail, once for its head.",
			plural(g.Entities, "entity", "entities"), plural(g.Facts, "fact", "facts"), plural(g.Relations, "relation", "relations"), g.MeanDegree))
		if i := g.InferenceGraph; i != nil {
			s.Lead = append(s.Lead, fmt.Sprintf("Test questions are asked of another graph, %s, of %s and %s, which the model has not seen.",
				g.Inference, plural(i.Entities, "entity", "entities"), plural(i.Facts, "fact", "facts")))
		}
		if g.Rejected > 0 {
			s.Lead = append(s.Lead, fmt.Sprintf("%s of the files were rejected and left out; rejects.tsv beside the tables has each with its reason.", plural(g.Rejected, "line", "lines")))
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

// splitTable has a row for each split.
func splitTable(g *graph.Summary) table {
	t := table{Title: "Questions", Head: []cell{text("Split"), number("Questions"), number("Distinct")},
		Note: "A question is a source and a relation. Those that are asked for several answers are propagated once: distinct counts propagations."}
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

// heldOut are the splits but train, if there are others: a training question has its own fact in
// the graph, so that its answer is next to it.
func heldOut(splits []distances.Distribution) []distances.Distribution {
	shown := slices.DeleteFunc(slices.Clone(splits), func(d distances.Distribution) bool { return d.Split == "train" })
	if len(shown) == 0 {
		return splits
	}
	return shown
}

// whole is the number of a distribution's queries.
func whole(d distances.Distribution) (sum int64) {
	for _, n := range d.ByDistance {
		sum += n
	}
	return sum
}

// farthest are the distances of some splits, without those at the end where nobody is.
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

// What the figures of distances are called, and what is said below all of them.
const (
	distancesName = "distances"
	howFar        = "How far answers are"
	outOfReach    = "Beyond the layers of a model an answer is out of reach."
)

// distanceFigure shows the share of questions at each distance.
func distanceFigure(d distances.Distribution) figure {
	all := whole(d)
	c := chart.Bars{
		Title: "Distance of the answers", Description: "Share of the questions of the " + d.Split + " split by the distance of their answer.",
		Label: "edges from source to answer", Y: chart.Axis{Label: "questions", Format: wholePercent}, Format: percent,
	}
	for _, name := range farthest(d) {
		n := d.ByDistance[name]
		c.Bars = append(c.Bars, chart.Bar{Name: shortDistance(name), Value: float64(n) / float64(max(1, all)), Note: "(" + plural(n, "question", "questions") + ")"})
	}
	return newFigure(distancesName, howFar, fmt.Sprintf("Of %s of the %s split, by the fewest edges between where they start and the answer. %s",
		plural(all, "question", "questions"), d.Split, outOfReach), c.SVG())
}

// distancesFigure shows the same of several splits.
func distancesFigure(splits []distances.Distribution) figure {
	c := chart.Grouped{
		Title: "Distance of the answers", Description: "Share of the questions of each split by the distance of their answer.",
		Label: "edges", X: chart.Axis{Label: "questions of the split", Format: wholePercent, Most: 1}, Format: percent,
	}
	for _, d := range splits {
		c.Series = append(c.Series, d.Split)
		c.Colours = append(c.Colours, splitColour(d.Split))
	}
	for _, name := range farthest(splits...) {
		group := chart.Group{Name: shortDistance(name)}
		for _, d := range splits {
			n := d.ByDistance[name]
			group.Bars = append(group.Bars, chart.Bar{Value: float64(n) / float64(max(1, whole(d))), Note: "(" + plural(n, "question", "questions") + ")"})
		}
		c.Groups = append(c.Groups, group)
	}
	return newFigure(distancesName, howFar, "By the fewest edges between where a question starts and its answer. "+outOfReach, c.SVG())
}

// distancesTable has the same in numbers.
func distancesTable(splits []distances.Distribution) table {
	t := table{Title: howFar + ", in numbers", Note: "Questions by the fewest edges from source to answer. A training question has its own fact in the graph here, which training leaves out.", Head: []cell{text("Edges")}}
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

// splitColour gives each split the same colour in all figures, apart for the colour-blind too.
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

// degreeFigure shows how many edges enter the entities.
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
	return newFigure("degrees", "How many edges entities have", fmt.Sprintf("By powers of two. A fact is two edges, its own and the reciprocal; the most that one entity has is %s%s.",
		count(a.MostEdges), caption), c.SVG())
}

// shortDistance fits a distance below a column.
func shortDistance(name string) string {
	if name == "unreached" {
		return "beyond"
	}
	return name
}
