package report

import (
	"fmt"
	"slices"
	"sort"

	"tagnet/model/ranking"
	"tagnet/pipelines/internal/report/chart"
	"tagnet/stages/evaluate"
)

// answersPart returns the section on the model's ranks: over all queries, and over groups of them.
func (e *evidence) answersPart() section {
	s := section{ID: answersSection, Title: "Evaluation", Gaps: e.gaps[answersSection]}
	if len(e.evaluations) == 0 {
		return s
	}
	v := e.evaluations[0]
	m := v.Pessimistic
	s.Lead = []string{fmt.Sprintf("On %s of the %s split the model ranks the right answer first for %s, and among the first ten for %s. Ranks are filtered: other answers that are known to be true do not count as wrong.",
		plural(v.Queries, "query", "queries"), v.Split, percent(m.Hits1), percent(m.Hits10))}
	if v.Tied > 0 {
		s.Lead = append(s.Lead, fmt.Sprintf("For %s of the queries the answer has exactly the score of another candidate, and %s have an answer that no message reaches. The pessimistic rank counts ties against the answer, the optimistic one in its favour.",
			percent(v.Tied), plural(v.Unreached, "query", "queries")))
	}
	s.Figures = append(s.Figures, beside(e.wholeTable()))
	if len(v.ByDirection) > 0 {
		s.Figures = append(s.Figures, beside(breakdown("By direction", "A tail is the answer to a query with the relation, a head to a query with the inverse relation.", "Answer", sortedKeys(v.ByDirection), v.ByDirection)))
	}
	if len(v.ByDistance) > 0 {
		s.Figures = append(s.Figures, v.distanceFigure())
	}
	if len(v.ranks) > 0 {
		s.Figures = append(s.Figures, v.rankFigure())
	}
	s.Tables = append(s.Tables, v.relationTables()...)
	distances := breakdown("By distance, in numbers", "From the source to the answer, in edges.", "Distance", distanceNames(v.ByDistance), v.ByDistance)
	distances.Folded = true
	s.Tables = append(s.Tables, distances)
	s.Tables = slices.DeleteFunc(s.Tables, func(t table) bool { return len(t.Rows) == 0 })
	return s
}

// wholeTable returns a table with a row for each split and each way of counting ties.
func (e *evidence) wholeTable() table {
	t := table{Title: "All queries", Note: "A higher MRR, a higher share among the first ten (Hits@10) and a lower mean rank are better.", Head: []cell{text("Ties"), number("MRR"), number("Hits@1"), number("Hits@3"), number("Hits@10"), number("Mean rank")}}
	for _, v := range e.evaluations {
		for _, policy := range []struct {
			name string
			m    ranking.Metrics
		}{{"pessimistic", v.Pessimistic}, {"mean", v.Mean}, {"optimistic", v.Optimistic}} {
			name := policy.name
			if len(e.evaluations) > 1 {
				name = v.Split + ", " + name
			}
			t.Rows = append(t.Rows, []cell{text(name), number(metric(policy.m.MRR)), number(metric(policy.m.Hits1)), number(metric(policy.m.Hits3)),
				number(metric(policy.m.Hits10)), number(fmt.Sprintf("%.1f", policy.m.MeanRank))})
		}
	}
	return t
}

// breakdown returns a table with a row for each group of queries.
func breakdown(title, note, what string, names []string, parts map[string]evaluate.Summary) table {
	t := table{Title: title, Note: note, Head: []cell{text(what), number("Queries"), number("MRR"), number("Hits@1"), number("Hits@10")}}
	for _, name := range names {
		p := parts[name]
		t.Rows = append(t.Rows, []cell{text(name), number(count(p.Queries)), bar(metric(p.Pessimistic.MRR), p.Pessimistic.MRR),
			number(metric(p.Pessimistic.Hits1)), number(metric(p.Pessimistic.Hits10))})
	}
	return t
}

// relationTables returns tables of the best and the worst relations and, if there are more, of all.
func (v evaluation) relationTables() []table {
	const shown, fewest = 6, 5
	names := sortedKeys(v.ByRelation)
	sort.SliceStable(names, func(i, j int) bool {
		return v.ByRelation[names[i]].Pessimistic.MRR > v.ByRelation[names[j]].Pessimistic.MRR
	})
	const note = "Filtered ranks of both directions, ties counted against the answer."
	if len(names) <= 2*shown {
		return []table{breakdown("By relation", note, "Relation", names, v.ByRelation)}
	}
	var frequent []string
	for _, name := range names {
		if v.ByRelation[name].Queries >= fewest {
			frequent = append(frequent, name)
		}
	}
	about := fmt.Sprintf("Of those with at least %d queries.", fewest)
	if len(frequent) < 2*shown {
		frequent, about = names, ""
	}
	worst := slices.Clone(frequent[len(frequent)-shown:])
	slices.Reverse(worst)
	all := breakdown(fmt.Sprintf("All %d relations", len(names)), note, "Relation", names, v.ByRelation)
	all.Folded = true
	return []table{
		breakdown("Best relations", about, "Relation", frequent[:shown], v.ByRelation),
		breakdown("Worst relations", about, "Relation", worst, v.ByRelation),
		all,
	}
}

// distanceFigure draws MRR by distance.
func (v evaluation) distanceFigure() figure {
	c := chart.Bars{Title: "MRR by distance", Description: "Mean reciprocal rank of the answers at each distance.",
		Label: "edges from source to answer", Y: chart.Axis{Format: metric2, Most: 1}}
	for _, name := range distanceNames(v.ByDistance) {
		p := v.ByDistance[name]
		c.Bars = append(c.Bars, chart.Bar{Name: shortDistance(name), Value: p.Pessimistic.MRR, Note: "(" + plural(p.Queries, "query", "queries") + ")"})
	}
	return newFigure("mrr-by-distance", "MRR by distance", "By the distance from the source to the answer. All unreached answers share one score.", c.SVG())
}

// rankFigure draws the cumulative distribution of the ranks.
func (v evaluation) rankFigure() figure {
	policies := []struct {
		name string
		of   func(ranked) int64
	}{
		{"ties against the answer", func(r ranked) int64 { return r.pessimistic }},
		{"ties for the answer", func(r ranked) int64 { return r.optimistic }},
	}
	c := chart.Lines{Title: "Ranks", Description: "Share of the queries whose answer has at most this rank.",
		X: chart.Axis{Label: "rank", Log: true, Format: func(v float64) string { return count(int64(v)) }}, Y: chart.Axis{Format: wholePercent, Zero: true, Most: 1}}
	for i, policy := range policies {
		ranks := make([]int64, len(v.ranks))
		for j, r := range v.ranks {
			ranks[j] = policy.of(r)
		}
		c.Series = append(c.Series, chart.Series{Name: policy.name, Points: cumulative(ranks), Dashed: i > 0})
	}
	return newFigure("ranks", "Cumulative distribution of ranks", "Share of the queries whose answer has at most this rank. The left end is Hits@1.", c.SVG())
}

// cumulative returns the share of the ranks that are at most x, for x from 1 to the largest in
// steps of a fifteenth.
func cumulative(ranks []int64) []chart.Point {
	ranks = slices.Clone(ranks)
	slices.Sort(ranks)
	if len(ranks) == 0 {
		return nil
	}
	var points []chart.Point
	largest := max(ranks[len(ranks)-1], 10) // an axis to rank 1 alone would show nothing
	for at := int64(1); ; at = max(at+1, at+at/15) {
		at = min(at, largest)
		below, _ := slices.BinarySearch(ranks, at+1)
		points = append(points, chart.Point{X: float64(at), Y: float64(below) / float64(len(ranks))})
		if at == largest {
			return points
		}
	}
}
