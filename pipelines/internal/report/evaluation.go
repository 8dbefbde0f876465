package report

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tagnet/formats/hop"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/pretrained"
	"tagnet/model/study/chart"
	"tagnet/pipelines/internal/cli/workspace"
)

// evaluation is the output of score for a split. ranks is nil where the tables could not be read.
type evaluation struct {
	metrics.Evaluation
	evaluated workspace.Evaluated
	ranks     *ranks
}

// readEvaluations reads the evaluations that used the weights of the best checkpoint, and of the first one the ranks.
func (e *evidence) readEvaluations(ctx context.Context) {
	e.readMetrics(ctx)
	if len(e.evaluations) == 0 {
		return
	}
	v := &e.evaluations[0]
	var err error
	if v.ranks, err = e.readRanks(ctx, v.Split, v.worstRelations()); err != nil {
		e.missingSplit(v.Split, e.workspace.Command("score", "--split", v.Split), err, content{evaluationSection, "ranks"})
	}
}

// readMetrics reads the metrics of each split that were made with the weights of the best checkpoint.
func (e *evidence) readMetrics(ctx context.Context) {
	shown := content{evaluationSection, "metrics"}
	for _, v := range readSplits[evaluation](ctx, e, e.workspace.InRun("evaluation"), metrics.File, "score", shown) {
		command := e.workspace.Command("score", "--split", v.Split)
		var err error
		if v.evaluated, err = e.checkBest(ctx, v.Split, command); err != nil {
			e.missingSplit(v.Split, command, err, shown)
			continue
		}
		e.evaluations = append(e.evaluations, v)
	}
}

// readProtocols reads the metrics by other protocols than the usual one that were made with the weights of
// the best checkpoint.
func (e *evidence) readProtocols(ctx context.Context) {
	for _, name := range metrics.Protocols[1:] {
		folder, command := e.workspace.EvaluationFolder(name), e.workspace.Command("score", "--protocol", name)
		there, err := storage.Exists(ctx, e.workspace.Path(folder, metrics.File))
		e.check(err)
		if err != nil || !there {
			continue
		}
		v, err := read[evaluation](ctx, e, folder, metrics.File, command)
		if err == nil {
			v.evaluated, err = e.checkBest(ctx, name, command)
		}
		if err != nil {
			e.unreadable(evaluationSection, "The metrics of the protocol "+name, command, err)
			continue
		}
		e.protocols = append(e.protocols, v)
	}
}

// checkBest returns the model of an evaluation. It returns an error if the model is not the best checkpoint.
func (e *evidence) checkBest(ctx context.Context, name string, command workspace.Command) (workspace.Evaluated, error) {
	evaluated, err := e.workspace.EvaluatedCheckpoint(ctx, e.workspace.Evaluation(name))
	if err != nil || e.checkpoint == nil || evaluated.Weights == "" || evaluated.Weights == e.checkpoint.Weights.SHA256 {
		return evaluated, err
	}
	model := evaluated.Model()
	if model == e.best {
		model += " of another training"
	}
	return evaluated, &workspace.Unusable{
		Reason:  fmt.Errorf("%s is of %s, but the best checkpoint now is %s", e.workspace.Evaluation(name), model, e.best),
		Command: command,
	}
}

// composeEvaluation returns the section on the model's ranks: over all queries, and over groups of them.
func (e *evidence) composeEvaluation() section {
	s := section{ID: evaluationSection, Title: "Evaluation"}
	if len(e.evaluations) == 0 {
		s.Tables = e.protocolTables()
		if len(e.protocols) > 0 {
			s.Lead = e.protocols[0].origin(e.names()...)
		}
		return s
	}
	// The first split has the text; each has a row.
	v := e.evaluations[0]
	m := v.Pessimistic
	s.Lead = []string{fmt.Sprintf("On %s of the %s split%s the model ranks the right answer first for %s, and among the first ten for %s. Ranks are "+
		"filtered: other answers that are known to be true do not count as wrong.",
		plural(v.Queries, "query", "queries"), v.Split, v.sampled(), percent(m.Hits1), percent(m.Hits10))}
	s.Lead = append(s.Lead, v.origin(e.names()...)...)
	for _, one := range e.evaluations {
		s.Figures = append(s.Figures, one.wholeTable(len(e.evaluations) > 1).figure())
	}
	if len(v.ByDirection) > 0 {
		s.Figures = append(s.Figures, v.directionTable().figure())
	}
	if len(v.ByDistance) > 0 {
		s.Figures = append(s.Figures, v.distanceFigure(e.unreachedDiffer(v)))
	}
	if v.ranks != nil {
		s.Figures = append(s.Figures, v.rankFigure())
	}
	distances := breakdown("By distance, in numbers", "From the source to the answer, in edges.", "Distance", hop.Keys(v.ByDistance), v.ByDistance)
	distances.Folded = true
	s.Tables = slices.Concat([]table{v.besideTable()}, e.protocolTables(), v.relationTables(), []table{distances})
	s.Tables = slices.DeleteFunc(s.Tables, func(t table) bool { return len(t.Rows) == 0 })
	return s
}

// sampled says of how many queries an evaluation ranked a sample, or nothing.
func (v evaluation) sampled() string {
	if v.Sample == nil {
		return ""
	}
	return fmt.Sprintf(", a sample of its %s,", count(v.Sample.Of))
}

// origin says what the published weights of an evaluation, or the weights that its checkpoint was trained from, were
// trained on, and whether it approximates, or returns nothing. datasets are the names of the graph.
func (v evaluation) origin(datasets ...string) []string {
	var sentences []string
	file, further, those := v.evaluated.GivenModel, "", "these"
	if file == nil {
		file, further, those = v.evaluated.From, ", and then trained further", "the authors'"
	}
	if file != nil {
		if graphs := pretrained.Graphs(*file); graphs != "" {
			not := fmt.Sprintf("On %s graphs, and on others that are made of their facts, these are not metrics of an unseen graph.", those)
			if i := slices.IndexFunc(datasets, func(name string) bool { return pretrained.Seen(*file, name) }); i >= 0 {
				not = fmt.Sprintf("Facts of %s are among them: these are not metrics of an unseen graph.", shown(datasets[i]))
			}
			weights := "those that ULTRA's authors published as " + file.File
			if file.Model != "" {
				weights, not = "tagnet's "+file.Model, strings.Replace(not, "the authors'", "its", 1)
			}
			sentences = append(sentences, fmt.Sprintf("The weights are %s, trained on %s%s. %s", weights, graphs, further, not))
		}
	}
	return sentences
}

// names returns the names of the training and the inference graph.
func (e *evidence) names() []string {
	if e.graph == nil {
		return nil
	}
	return []string{e.graph.Dataset, e.graph.Inference}
}

// wholeTable returns a table of the metrics, with a column for each tie policy.
func (v evaluation) wholeTable(several bool) table {
	t := table{Title: "All queries", Head: []string{"", "pessimistic"},
		Note: "The pessimistic rank counts ties against the answer, the optimistic one for it, the mean one half of them. Higher " +
			"is better, but for the mean rank."}
	if several {
		t.Title += ", " + v.Split + " split"
	}
	if v.ranks != nil {
		t.Head = append(t.Head, "95% interval")
		t.Note += " The interval says how much a pessimistic metric varies with the choice of queries, by 1,000 bootstrap replicates."
	}
	t.Head = append(t.Head, "mean", "optimistic")
	var intervals *metrics.Intervals
	if v.ranks != nil {
		intervals = v.ranks.whole.Intervals()
	}
	for _, one := range metrics.Table {
		values := func(m metrics.Metrics) string {
			if one.Interval == nil {
				return fmt.Sprintf("%.1f", *one.Value(&m))
			}
			return metric(*one.Value(&m))
		}
		row := []string{strings.ToUpper(one.Title[:1]) + one.Title[1:], values(v.Pessimistic)}
		if v.ranks != nil {
			between := "–"
			if one.Interval != nil && intervals != nil {
				between = interval(*one.Interval(intervals), true)
			}
			row = append(row, between)
		}
		t.add(append(row, values(v.Mean), values(v.Optimistic))...)
	}
	return t
}

// besideTable returns a table of the model beside baselines, by how much of a fact the graph gives away, without rows
// where there are none.
func (v evaluation) besideTable() table {
	t := table{Title: "Beside what needs no training",
		Head: []string{"The graph has of (h, r, t)", "Queries", "MRR", "popularity", "rules", "Hits@10", "popularity", "rules"},
		Note: "By popularity entities rank by how many facts of the relation they answer, by rules of one hop by what other relations link them. " +
			"(h, r, ·) is another fact of the head with the relation, (·, r, t) one of the relation with the tail. Pessimistic ranks."}
	if v.Baselines == nil {
		return t
	}
	popularity, rules := v.Baselines.Popularity, v.Baselines.Rules
	add := func(name string, model metrics.Summary, popularity, rules metrics.Ranks) {
		m, p, r := model.Pessimistic, popularity.Pessimistic, rules.Pessimistic
		t.add(name, count(model.Queries), metric(m.MRR), metric(p.MRR), metric(r.MRR), metric(m.Hits10), metric(p.Hits10), metric(r.Hits10))
	}
	for _, class := range []struct{ key, name string }{{"both", "both"}, {"head", "(h, r, ·)"}, {"tail", "(·, r, t)"}, {"neither", "neither"}} {
		if linked, ok := v.ByLinks[class.key]; ok {
			add(class.name, linked, popularity.ByLinks[class.key], rules.ByLinks[class.key])
		}
	}
	add("all queries", v.Summary, popularity.Ranks, rules.Ranks)
	return t
}

// protocolTables returns a table of the metrics by other protocols, or none.
func (e *evidence) protocolTables() []table {
	if len(e.protocols) == 0 {
		return nil
	}
	t := table{Title: "Other protocols", Head: []string{"Protocol", "Queries", "MRR", "Hits@1", "Hits@10", "Hits@10, mean"},
		Note: "What other papers rank. Pessimistic ranks, and in the last column those that count one half of the ties."}
	for _, v := range e.protocols {
		m := v.Pessimistic
		queries := count(v.Queries)
		if v.Sample != nil {
			queries += " of " + count(v.Sample.Of)
		}
		t.add(fmt.Sprintf("%s: %s", v.Protocol, v.Protocol.About()), queries, metric(m.MRR), metric(m.Hits1), metric(m.Hits10), metric(v.Mean.Hits10))
	}
	return []table{t}
}

// directionTable returns a table with a row for each direction.
func (v evaluation) directionTable() table {
	t := breakdown("By direction", "A query for a tail has the relation, one for a head its inverse, ~relation.", "Direction",
		slices.Sorted(maps.Keys(v.ByDirection)), v.ByDirection)
	if v.ranks == nil {
		return t
	}
	t.Head = slices.Insert(t.Head, 3, "95% interval")
	for i, row := range t.Rows {
		row[2].Bar = ""
		t.Rows[i] = slices.Insert(row, 3, cell{Text: interval(v.ranks.ofDirection(row[0].Text).MRR())})
	}
	return t
}

// breakdown returns a table with a row for each group of queries.
func breakdown(title, note, what string, names []string, groups map[string]metrics.Summary) table {
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
	const note = "Filtered pessimistic ranks of both directions."
	if len(names) <= 2*shown {
		return []table{tableOf("By relation", note, names)}
	}
	frequent := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return v.ByRelation[name].Queries < fewest })
	about := fmt.Sprintf("Of those with at least %d queries.", fewest)
	if len(frequent) < 2*shown {
		frequent, about = names, ""
	}
	all := tableOf(fmt.Sprintf("All %d relations", len(names)), note, names)
	all.Folded = true
	if v.ByRelation[frequent[0]].Pessimistic.MRR == v.ByRelation[frequent[len(frequent)-1]].Pessimistic.MRR {
		return []table{all} // none is better than another
	}
	worst := slices.Clone(frequent[len(frequent)-shown:])
	slices.Reverse(worst)
	return []table{tableOf("Best relations", about, frequent[:shown]), tableOf("Worst relations", about, worst), all}
}

// distanceFigure draws MRR by distance.
func (v evaluation) distanceFigure(unreachedDiffer bool) figure {
	c := chart.Bars{Label: "edges", X: chart.Axis{Label: "MRR", Most: 1}, Format: metric, Series: []chart.Key{{Name: "MRR"}}}
	for _, name := range hop.Keys(v.ByDistance) {
		group := v.ByDistance[name]
		c.Rows = append(c.Rows, chart.Row{Name: shortDistance(name), Bars: []chart.Bar{queriesBar(group.Pessimistic.MRR, group.Queries)}})
	}
	caption := "By the distance from the source to the answer."
	if !unreachedDiffer {
		caption += " All unreached answers share one score."
	}
	return newFigure("mrr-by-distance", "MRR by distance", caption, c)
}

// rankFigure draws the cumulative distribution of the ranks.
func (v evaluation) rankFigure() figure {
	return newFigure("ranks", "Cumulative distribution of ranks",
		"Share of the queries whose answer has at most this rank. The left end is Hits@1. Pessimistic ranks count ties against the "+
			"answer, optimistic ones for it.", chart.Lines{
			X: chart.Axis{Label: "rank", Log: true, Format: func(v float64) string { return count(int64(v)) }},
			Y: chart.Axis{Format: wholePercent, Zero: true, Most: 1},
			Series: []chart.Series{
				{Key: chart.Key{Name: "pessimistic"}, Points: cumulative(v.ranks.pessimistic)},
				{Key: chart.Key{Name: "optimistic", Color: 1}, Points: cumulative(v.ranks.optimistic), Dashed: true},
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
