package report

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tagnet/formats/metrics"
	"tagnet/formats/names"
	"tagnet/formats/parquet"
	"tagnet/formats/reach"
	"tagnet/formats/storage"
	rows "tagnet/model/evaluation"
	"tagnet/stages/discover"
	"tagnet/stages/evaluate"
	"tagnet/stages/explain"
)

// listShown is the number of facts, triples, or relations of pairs, that the page shows of a folder.
const listShown = 20

// readFacts reads a list of new facts: all of it for the search, and the first ones for a table.
func (e *reader) readFacts(ctx context.Context, own *ownAnswers) error {
	folder := e.workspace.Evaluation(own.name)
	summary, err := storage.ReadJSON[metrics.Discovery](ctx, storage.Join(folder, metrics.DiscoveryFile))
	if err != nil {
		return err
	}
	own.summary = &summary
	table := storage.Join(folder, discover.Table)
	all := newSearchTable("the "+lowered(own.title()), table, true)
	all.facts = true
	err = parquet.EachPart(ctx, table, func(part []parquet.Fact) error {
		own.facts = append(own.facts, part[:min(len(part), listShown-len(own.facts))]...)
		answers := make([]parquet.Prediction, len(part))
		for i, r := range part {
			answers[i] = rows.FactAnswer(r)
		}
		all.add(answers)
		return ctx.Err()
	})
	if err == nil && own.explained {
		err = parquet.EachPart(ctx, storage.Join(folder, explain.Table), func(part []parquet.Explanation) error {
			all.explain(part)
			return ctx.Err()
		})
	}
	if err != nil {
		return err
	}
	e.searched = append(e.searched, all)
	return nil
}

// readTriples reads the least plausible of given triples, or the relations of the first pairs.
func (e *reader) readTriples(ctx context.Context, own *ownAnswers) error {
	last := int64(-1)
	return parquet.EachPart(ctx, storage.Join(e.workspace.Evaluation(own.name), evaluate.TriplesTable), func(part []parquet.Triple) error {
		for _, r := range part {
			if !own.pairs() || r.Query != last {
				own.queries++
			}
			if last = r.Query; !own.pairs() || len(own.triples) < listShown {
				own.triples = append(own.triples, r)
			}
		}
		if !own.pairs() {
			slices.SortStableFunc(own.triples, rows.LeastPlausible)
			own.triples = slices.Clip(own.triples[:min(len(own.triples), listShown)])
		}
		return ctx.Err()
	})
}

// triple returns a fact on a line.
func triple(head, relation, tail string) string {
	const most = shownLetters/3 - 2
	return names.Shorten(head, most) + "  " + names.Shorten(relation, most) + "  " + names.Shorten(tail, most)
}

// probability returns what a table shows of one.
func probability(p *float64) string {
	if p == nil {
		return "–"
	}
	return percent(*p)
}

// hops returns what a table shows of a number of hops.
func hops(n int32) string {
	if n == reach.Column {
		return "–"
	}
	return fmt.Sprint(n)
}

// factsSection returns the section of a list of new facts.
func (e *evidence) factsSection(own ownAnswers) section {
	d := own.summary
	s := section{Title: own.title()}
	t := table{Head: []string{"Fact", "Probability", "Hops"}}
	for _, f := range own.facts {
		row := t.add(triple(f.Head, f.Relation, f.Tail), probability(f.Probability), hops(f.Hops))
		if f.Probability != nil {
			row[1].Bar = bar(*f.Probability)
		}
	}
	s.Tables = []table{t}
	s.Lead = []string{fmt.Sprintf("Facts that the graph lacks, the most probable first: %s of %s that are among the %d best new answers of a query.", count(d.Listed), count(d.Candidates), d.TopK)}
	if f := d.Fitted; f != nil {
		s.Lead = append(s.Lead, fmt.Sprintf("A probability is that of being a missing fact, if as many facts are missing as %s of the graph.", percent(f.Missing)))
	} else {
		s.Lead = append(s.Lead, "The facts have no probabilities, since there were too few validation facts to fit them to. The lower one of a fact's two scores orders the list.")
	}
	if n := len(own.facts); int64(n) < d.Listed {
		s.Lead = append(s.Lead, fmt.Sprintf("These are the first %d; all are in %s.", n, e.workspace.EvaluationFolder(own.name)))
	}
	if own.explained {
		s.Lead = append(s.Lead, "The search of all predictions has the paths that carried most of the score of each fact.")
	}
	if h := d.HeldOut; h != nil {
		s.Tables = append(s.Tables, heldOutTable(h))
	}
	return s
}

// heldOutTable compares a list with the facts of the test split.
func heldOutTable(h *metrics.HeldOut) table {
	t := table{Title: "How far to trust the list", Head: []string{"Probability", "Facts", "Mean probability", "True"}}
	t.Note = fmt.Sprintf("With the %s of the test split that could be listed, as if they were new: %s of the first %s are facts of it.", plural(h.Facts, "fact", "facts"), percent(h.Precision), count(h.First))
	if len(h.Reliability.Bins) > 0 {
		t.Note += fmt.Sprintf(" The table has the %s of that list by their probability, and the share that is true; the calibration error is %.4f.", plural(h.Listed, "fact", "facts"), h.Reliability.Error)
	}
	for _, b := range h.Reliability.Bins {
		if b.Candidates > 0 {
			row := t.add(fmt.Sprintf("%s to %s", wholePercent(b.From), wholePercent(b.To)), count(b.Candidates), percent(b.Mean), percent(b.Observed))
			row[2].Bar, row[3].Bar = bar(b.Mean), bar(b.Observed)
		}
	}
	return t
}

// triplesSection returns the section of given triples, or pairs.
func (e *evidence) triplesSection(own ownAnswers) section {
	s := section{Title: own.title(), Lead: []string{"The least plausible of your triples first. The tail is ranked as an answer of (head, relation, ?), the head as one of (tail, ~relation, ?); a triple of the graph is scored without itself."}}
	which, more := "least plausible", fmt.Sprintf("%d of %s", len(own.triples), plural(own.queries, "triple", "triples"))
	asked := int64(len(own.triples))
	if own.pairs() {
		s.Lead[0] = "The most plausible relations of each of your pairs, each scored as the triple that it makes: the tail as an answer of (head, relation, ?), the head as one of (tail, ~relation, ?)."
		asked = 0
		for i, r := range own.triples {
			if i == 0 || own.triples[i-1].Query != r.Query {
				asked++
			}
		}
		which, more = "first", fmt.Sprintf("%d of %s", asked, plural(own.queries, "pair", "pairs"))
	}
	t := table{Head: []string{"Triple", "Probability of the tail", "Its rank", "Probability of the head", "Its rank", "Hops", "In the dataset"}}
	calibrated := slices.ContainsFunc(own.triples, func(r parquet.Triple) bool { return r.TailProbability != nil })
	if !calibrated {
		t.Head[1], t.Head[3] = "Score of the tail", "Score of the head"
	}
	value := func(p *float64, score float32) string {
		if calibrated {
			return probability(p)
		}
		return fmt.Sprintf("%.2f", score)
	}
	for _, r := range own.triples {
		known := "no"
		if r.Known {
			known = "yes"
		}
		t.add(triple(r.Head, r.Relation, r.Tail), value(r.TailProbability, r.TailScore), count(r.TailRank), value(r.HeadProbability, r.HeadScore), count(r.HeadRank), hops(r.Hops), known)
	}
	s.Tables = []table{t}
	if asked < own.queries {
		s.Lead = append(s.Lead, fmt.Sprintf("These are the %s %s; all are in %s.", which, more, e.workspace.EvaluationFolder(own.name)))
	}
	return s
}

// lowered returns a title for use within a sentence.
func lowered(title string) string { return strings.ToLower(title[:1]) + title[1:] }
