package report

import (
	"fmt"

	"tagnet/pipelines/internal/report/chart"
	"tagnet/stages/distance"
	"tagnet/stages/graph"
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
			s.Lead = append(s.Lead, fmt.Sprintf("%s of the files are no facts and were left out; rejects.tsv beside the tables has each with its reason.", plural(g.Rejected, "line", "lines")))
		}
		if t := splitTable(g); len(t.Rows) > 0 {
			s.Figures = append(s.Figures, beside(t))
		}
	}
	if len(e.distances) > 0 {
		s.Figures = append(s.Figures, distanceFigure(e.distances[0]))
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

// distanceFigure shows the share of questions at each distance.
func distanceFigure(d distance.Distribution) figure {
	var whole int64
	for _, n := range d.ByDistance {
		whole += n
	}
	c := chart.Bars{
		Title: "Distance of the answers", Description: "Share of the questions of the " + d.Split + " split by the distance of their answer.",
		Label: "edges from source to answer", Y: chart.Axis{Format: wholePercent}, Format: percent,
	}
	names := distanceNames(d.ByDistance)
	for len(names) > 1 && d.ByDistance[names[len(names)-1]] == 0 {
		names = names[:len(names)-1] // nobody is as far as was searched
	}
	for _, name := range names {
		n := d.ByDistance[name]
		c.Bars = append(c.Bars, chart.Bar{Name: shortDistance(name), Value: float64(n) / float64(max(1, whole)), Note: "(" + plural(n, "question", "questions") + ")"})
	}
	return newFigure("distances", "How far answers are", fmt.Sprintf("Of %s of the %s split, by the fewest edges between where they start and the answer. Beyond the layers of a model an answer is out of reach.",
		plural(whole, "question", "questions"), d.Split), c.SVG())
}

// shortDistance fits a distance below a column.
func shortDistance(name string) string {
	if name == "unreached" {
		return "beyond"
	}
	return name
}
