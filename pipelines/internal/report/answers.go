package report

import (
	"fmt"
	"slices"
	"sort"

	"tagnet/model/ranking"
	"tagnet/pipelines/internal/report/chart"
	"tagnet/stages/evaluate"
)

// answersPart shows how well the model answers: over all questions, and over parts of them.
func (e *evidence) answersPart() section {
	s := section{ID: answersSection, Title: "Answers", Gaps: e.gaps[answersSection]}
	if len(e.evaluations) == 0 {
		return s
	}
	v := e.evaluations[0]
	m := v.Pessimistic
	s.Lead = []string{fmt.Sprintf("Asked %s of the %s split, the model ranks the right answer first in %s of them, and among the first ten in %s. Other answers that are known to be true do not count as wrong.",
		plural(v.Queries, "question", "questions"), v.Split, percent(m.Hits1), percent(m.Hits10))}
	if v.Tied > 0 {
		s.Lead = append(s.Lead, fmt.Sprintf("In %s of the questions the answer has exactly the score of another candidate, and %s have an answer that no message reaches. The pessimistic rank counts ties against the model, the optimistic one for it.",
			percent(v.Tied), plural(v.Unreached, "question", "questions")))
	}
	s.Figures = append(s.Figures, beside(e.wholeTable()))
	if len(v.ByDirection) > 0 {
		s.Figures = append(s.Figures, beside(breakdown("By direction", "The tail of a fact is asked along its relation, the head against it.", "Asked for", sortedKeys(v.ByDirection), v.ByDirection)))
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

// wholeTable has a row for each split and each way of counting ties.
func (e *evidence) wholeTable() table {
	t := table{Title: "All questions", Note: "A higher MRR, a higher share among the first ten (Hits@10) and a lower mean rank are better.", Head: []cell{text("Ties"), number("MRR"), number("Hits@1"), number("Hits@3"), number("Hits@10"), number("Mean rank")}}
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

// breakdown has a row for each part of the questions.
func breakdown(title, note, what string, names []string, parts map[string]evaluate.Summary) table {
	t := table{Title: title, Note: note, Head: []cell{text(what), number("Questions"), number("MRR"), number("Hits@1"), number("Hits@10")}}
	for _, name := range names {
		p := parts[name]
		t.Rows = append(t.Rows, []cell{text(name), number(count(p.Queries)), bar(metric(p.Pessimistic.MRR), p.Pessimistic.MRR),
			number(metric(p.Pessimistic.Hits1)), number(metric(p.Pessimistic.Hits10))})
	}
	return t
}

// relationTables are the best and the worst relations, and all of them where that is more.
func (v evaluation) relationTables() []table {
	const shown, fewest = 6, 5
	names := sortedKeys(v.ByRelation)
	sort.SliceStable(names, func(i, j int) bool {
		return v.ByRelation[names[i]].Pessimistic.MRR > v.ByRelation[names[j]].Pessimistic.MRR
	})
	const note = "Filtered ranks of both directions, ties counted against the model."
	if len(names) <= 2*shown {
		return []table{breakdown("By relation", note, "Relation", names, v.ByRelation)}
	}
	var asked []string
	for _, name := range names {
		if v.ByRelation[name].Queries >= fewest {
			asked = append(asked, name)
		}
	}
	about := fmt.Sprintf("Of those with at least %d questions.", fewest)
	if len(asked) < 2*shown {
		asked, about = names, ""
	}
	worst := slices.Clone(asked[len(asked)-shown:])
	slices.Reverse(worst)
	all := breakdown(fmt.Sprintf("All %d relations", len(names)), note, "Relation", names, v.ByRelation)
	all.Folded = true
	return []table{
		breakdown("Best relations", about, "Relation", asked[:shown], v.ByRelation),
		breakdown("Worst relations", about, "Relation", worst, v.ByRelation),
		all,
	}
}

// distanceFigure shows MRR by distance.
func (v evaluation) distanceFigure() figure {
	c := chart.Bars{Title: "MRR by distance", Description: "Mean reciprocal rank of the answers at each distance.",
		Label: "edges from source to answer", Y: chart.Axis{Format: metric2, Most: 1}}
	for _, name := range distanceNames(v.ByDistance) {
		p := v.ByDistance[name]
		c.Bars = append(c.Bars, chart.Bar{Name: shortDistance(name), Value: p.Pessimistic.MRR, Note: "(" + plural(p.Queries, "question", "questions") + ")"})
	}
	return newFigure("mrr-by-distance", "Near answers and far ones", "MRR by the distance of the answer. An answer that no message reaches shares its score with all others that are out of reach.", c.SVG())
}

// rankFigure shows the share of questions whose answer has a rank of at most so much.
func (v evaluation) rankFigure() figure {
	policies := []struct {
		name string
		of   func(ranked) int64
	}{
		{"ties against the answer", func(r ranked) int64 { return r.pessimistic }},
		{"ties for the answer", func(r ranked) int64 { return r.optimistic }},
	}
	c := chart.Lines{Title: "Ranks", Description: "Share of the questions whose answer has at most this rank.",
		X: chart.Axis{Label: "rank", Log: true, Format: func(v float64) string { return count(int64(v)) }}, Y: chart.Axis{Format: wholePercent, Zero: true, Most: 1}}
	for i, policy := range policies {
		ranks := make([]int64, len(v.ranks))
		for j, r := range v.ranks {
			ranks[j] = policy.of(r)
		}
		c.Series = append(c.Series, chart.Series{Name: policy.name, Points: cumulative(ranks), Dashed: i > 0})
	}
	return newFigure("ranks", "How high answers rank", "Share of the questions whose answer has at most this rank. The left end is Hits@1.", c.SVG())
}

// cumulative is the share of the ranks that are at most x, for x from 1 to the largest in
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
