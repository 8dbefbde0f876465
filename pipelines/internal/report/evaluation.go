package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tagnet/model/ranking"
	"tagnet/pipelines/internal/report/chart"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/evaluate"
)

// evaluation is the output of score for a split.
type evaluation struct {
	evaluate.Metrics
	// pessimistic and optimistic have the number of queries of each rank.
	pessimistic, optimistic map[int64]int64
	cards                   []card
}

// readEvaluations reads the evaluations that used the weights of the best checkpoint.
func (e *evidence) readEvaluations(ctx context.Context) {
	metrics, predictions := content{evaluationSection, "metrics"}, content{queriesSection, "predictions"}
	for _, v := range readSplits[evaluation](ctx, e, e.workspace.InRun("evaluation"), "metrics.json", "score", metrics, predictions) {
		command := e.workspace.Command("score", "--split", v.Split)
		if err := e.checkBest(ctx, v.Split, command); err != nil {
			e.missingSplit(v.Split, command, err, metrics, predictions)
			continue
		}
		if err := v.readTables(ctx, e.workspace.Evaluation(v.Split)); err != nil {
			e.missingSplit(v.Split, command, err, predictions)
		}
		e.evaluations = append(e.evaluations, v)
	}
}

// checkBest returns an error if an evaluation used other weights than those of the best checkpoint.
func (e *evidence) checkBest(ctx context.Context, split string, command workspace.Command) error {
	if e.checkpoint == nil {
		return nil
	}
	name, weights, err := e.workspace.EvaluatedCheckpoint(ctx, split)
	if err != nil || weights == "" || weights == e.checkpoint.Weights.SHA256 {
		return err
	}
	return &workspace.Unusable{
		Reason:  fmt.Errorf("%s is of %s, but the best checkpoint now is %s", e.workspace.Evaluation(split), name, e.best),
		Command: command,
	}
}

// composeEvaluation returns the section on the model's ranks: over all queries, and over groups of
// them.
func (e *evidence) composeEvaluation() section {
	s := section{ID: evaluationSection, Title: "Evaluation"}
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
	s.Figures = append(s.Figures, e.wholeTable().figure())
	if len(v.ByDirection) > 0 {
		s.Figures = append(s.Figures, breakdown("By direction", "A tail is the answer to a query with the relation, a head to a query with the inverse relation.",
			"Answer", slices.Sorted(maps.Keys(v.ByDirection)), v.ByDirection).figure())
	}
	if len(v.ByDistance) > 0 {
		s.Figures = append(s.Figures, v.distanceFigure())
	}
	if len(v.pessimistic) > 0 {
		s.Figures = append(s.Figures, v.rankFigure())
	}
	distances := breakdown("By distance, in numbers", "From the source to the answer, in edges.", "Distance", distanceNames(v.ByDistance), v.ByDistance)
	distances.Folded = true
	s.Tables = append(v.relationTables(), distances)
	s.Tables = slices.DeleteFunc(s.Tables, func(t table) bool { return len(t.Rows) == 0 })
	return s
}

// wholeTable returns a table with a row for each split and each way of counting ties.
func (e *evidence) wholeTable() table {
	t := table{Title: "All queries", Note: "A higher MRR, a higher share among the first ten (Hits@10) and a lower mean rank are better.",
		Head: []string{"Ties", "MRR", "Hits@1", "Hits@3", "Hits@10", "Mean rank"}}
	for _, v := range e.evaluations {
		for i, m := range []ranking.Metrics{v.Pessimistic, v.Mean, v.Optimistic} {
			name := []string{"pessimistic", "mean", "optimistic"}[i]
			if len(e.evaluations) > 1 {
				name = v.Split + ", " + name
			}
			t.add(name, metric(m.MRR), metric(m.Hits1), metric(m.Hits3), metric(m.Hits10), fmt.Sprintf("%.1f", m.MeanRank))
		}
	}
	return t
}

// breakdown returns a table with a row for each group of queries.
func breakdown(title, note, what string, names []string, groups map[string]evaluate.Summary) table {
	t := table{Title: title, Note: note, Head: []string{what, "Queries", "MRR", "Hits@1", "Hits@10"}}
	for _, name := range names {
		m := groups[name].Pessimistic
		row := t.add(name, count(groups[name].Queries), metric(m.MRR), metric(m.Hits1), metric(m.Hits10))
		row[2].Bar = bar(m.MRR)
	}
	return t
}

// relationTables returns tables of the best and the worst relations and, if there are more, of all.
func (v evaluation) relationTables() []table {
	const shown, fewest = 6, 5
	tableOf := func(title, note string, names []string) table {
		return breakdown(title, note, "Relation", names, v.ByRelation)
	}
	names := slices.SortedFunc(maps.Keys(v.ByRelation), func(a, b string) int {
		return cmp.Or(cmp.Compare(v.ByRelation[b].Pessimistic.MRR, v.ByRelation[a].Pessimistic.MRR), strings.Compare(a, b))
	})
	const note = "Filtered ranks of both directions, ties counted against the answer."
	if len(names) <= 2*shown {
		return []table{tableOf("By relation", note, names)}
	}
	frequent := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return v.ByRelation[name].Queries < fewest })
	about := fmt.Sprintf("Of those with at least %d queries.", fewest)
	if len(frequent) < 2*shown {
		frequent, about = names, ""
	}
	worst := slices.Clone(frequent[len(frequent)-shown:])
	slices.Reverse(worst)
	all := tableOf(fmt.Sprintf("All %d relations", len(names)), note, names)
	all.Folded = true
	return []table{tableOf("Best relations", about, frequent[:shown]), tableOf("Worst relations", about, worst), all}
}

// distanceFigure draws MRR by distance.
func (v evaluation) distanceFigure() figure {
	c := chart.Bars{Label: "edges", X: chart.Axis{Label: "MRR", Most: 1}, Format: metric, Series: []chart.Key{{Name: "MRR"}}}
	for _, name := range distanceNames(v.ByDistance) {
		group := v.ByDistance[name]
		c.Rows = append(c.Rows, chart.Row{Name: shortDistance(name), Bars: []chart.Bar{queriesBar(group.Pessimistic.MRR, group.Queries)}})
	}
	return newFigure("mrr-by-distance", "MRR by distance", "By the distance from the source to the answer. All unreached answers share one score.", c)
}

// rankFigure draws the cumulative distribution of the ranks.
func (v evaluation) rankFigure() figure {
	return newFigure("ranks", "Cumulative distribution of ranks", "Share of the queries whose answer has at most this rank. The left end is Hits@1.", chart.Lines{
		X: chart.Axis{Label: "rank", Log: true, Format: func(v float64) string { return count(int64(v)) }},
		Y: chart.Axis{Format: wholePercent, Zero: true, Most: 1},
		Series: []chart.Series{
			{Key: chart.Key{Name: "ties against the answer"}, Points: cumulative(v.pessimistic)},
			{Key: chart.Key{Name: "ties for the answer", Colour: 1}, Points: cumulative(v.optimistic), Dashed: true},
		}})
}

// cumulative returns the share of the queries whose rank is at most x, for x from 1 to the largest rank in steps of a
// fifteenth, given the number of queries of each rank.
func cumulative(ranks map[int64]int64) []chart.Point {
	if len(ranks) == 0 {
		return nil
	}
	sorted := slices.Sorted(maps.Keys(ranks))
	total := int64(0)
	for _, n := range ranks {
		total += n
	}
	var points []chart.Point
	largest := max(sorted[len(sorted)-1], 10) // an axis to rank 1 alone would show nothing
	below := int64(0)
	for at := int64(1); ; at = min(largest, max(at+1, at+at/15)) {
		for len(sorted) > 0 && sorted[0] <= at {
			below += ranks[sorted[0]]
			sorted = sorted[1:]
		}
		points = append(points, chart.Point{X: float64(at), Y: float64(below) / float64(total)})
		if at == largest {
			return points
		}
	}
}
