package report

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"tagnet/formats/parquet"
	"tagnet/formats/storage"
	"tagnet/pipelines/internal/workspace"
)

// The numbers of queries that the page shows.
const rightShown, wrongShown, ownShown = 9, 6, 30

// query is a source with a relation and direction; it may have several answers.
type query struct{ source, relation, direction string }

func rankedQuery(r parquet.Ranking) query { return query{r.Source, r.Relation, r.Direction} }

func predictedQuery(p parquet.Prediction) query { return query{p.Source, p.Relation, p.Direction} }

// head is the direction of a query for the head of a fact.
const head = "head"

// group returns the rows of each wanted query, and these queries in the order of their first rows.
func group[T any](rows []T, queryOf func(T) query, wanted func(query) bool) (order []query, groups map[query][]T) {
	groups = map[query][]T{}
	for _, row := range rows {
		q := queryOf(row)
		if !wanted(q) {
			continue
		}
		if groups[q] == nil {
			order = append(order, q)
		}
		groups[q] = append(groups[q], row)
	}
	return order, groups
}

func everyQuery(query) bool { return true }

// readTables reads the ranks of a split, and the predictions for the queries that the page shows.
func (v *evaluation) readTables(ctx context.Context, folder string) (err error) {
	if v.ranks, err = parquet.Read[parquet.Ranking](ctx, storage.Join(folder, "rankings.parquet")); err != nil {
		return err
	}
	queries, ranks := group(v.ranks, rankedQuery, everyQuery)
	chosen := choose(queries, ranks)
	predictions, err := parquet.Read[parquet.Prediction](ctx, storage.Join(folder, "predictions.parquet"))
	if err != nil {
		return err
	}
	_, candidates := group(predictions, predictedQuery, func(q query) bool { return slices.Contains(chosen, q) })
	for _, q := range chosen {
		v.cards = append(v.cards, newCard(q, candidates[q], ranks[q]))
	}
	return nil
}

// readOwnQueries reads the predictions for the user's own queries, if there are any.
func (e *evidence) readOwnQueries(ctx context.Context) {
	url := storage.Join(e.workspace.Evaluation("queries"), "predictions.parquet")
	if there, err := storage.Exists(ctx, url); err != nil || !there {
		return
	}
	scoreOwn := e.workspace.Command("score", "--queries", "FILE")
	err := e.require(ctx, workspace.EvaluationFolder("queries"), scoreOwn)
	var predictions []parquet.Prediction
	if err == nil {
		predictions, err = parquet.Read[parquet.Prediction](ctx, url)
	}
	if err != nil {
		e.missing(queriesSection, "The answers to your own queries cannot be shown", scoreOwn, err)
	}
	queries, candidates := group(predictions, predictedQuery, everyQuery)
	for _, q := range queries {
		e.own = append(e.own, newCard(q, candidates[q], nil))
	}
}

// choose returns queries that the model answers right, then others, each over as many relations as
// possible. It is deterministic.
func choose(queries []query, ranks map[query][]parquet.Ranking) []query {
	drawn, worst := map[query]uint64{}, map[query]int64{}
	for _, q := range queries {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s\t%s\t%s", q.source, q.relation, q.direction)
		drawn[q] = h.Sum64()
		for _, r := range ranks[q] {
			worst[q] = max(worst[q], r.RankPessimistic)
		}
	}
	queries = slices.SortedFunc(slices.Values(queries), func(a, b query) int {
		return cmp.Or(cmp.Compare(drawn[a], drawn[b]), strings.Compare(a.source, b.source), strings.Compare(a.relation, b.relation), strings.Compare(a.direction, b.direction))
	})
	right := spread(queries, rightShown, func(q query) bool { return worst[q] == 1 })
	wrong := spread(queries, wrongShown, func(q query) bool { return worst[q] > 10 })
	if len(wrong) == 0 {
		wrong = spread(queries, wrongShown, func(q query) bool { return worst[q] > 1 })
	}
	return append(right, wrong...)
}

// spread returns up to n of the wanted queries: one of each relation and direction before a second
// one of any.
func spread(queries []query, n int, wanted func(query) bool) []query {
	var chosen []query
	round, next := map[query]int{}, map[query]int{} // next has no sources
	for _, q := range queries {
		if wanted(q) {
			kind := query{relation: q.relation, direction: q.direction}
			round[q] = next[kind]
			next[kind]++
			chosen = append(chosen, q)
		}
	}
	slices.SortStableFunc(chosen, func(a, b query) int { return round[a] - round[b] })
	return chosen[:min(n, len(chosen))]
}

// newCard returns the card of a query with its candidates, best first, and the ranks of its expected
// answers.
func newCard(q query, candidates []parquet.Prediction, expected []parquet.Ranking) card {
	c := card{Source: q.source, Relation: q.relation, Inverse: q.direction == head}
	listed := map[string]bool{} // has the expected answers
	var worst parquet.Ranking
	for _, r := range expected {
		listed[r.Answer] = false
		if r.RankPessimistic >= worst.RankPessimistic {
			worst = r
		}
	}
	c.Good = worst.RankPessimistic == 1
	switch {
	case len(expected) == 0:
	case c.Good && len(expected) == 1:
		c.Verdict = "right"
	case c.Good:
		c.Verdict = fmt.Sprintf("right, all %d answers", len(expected))
	case worst.Distance < 0:
		c.Verdict = fmt.Sprintf("%s is unreached: rank %s", worst.Answer, count(worst.RankPessimistic))
	default:
		c.Verdict = fmt.Sprintf("%s has rank %s, at distance %d", worst.Answer, count(worst.RankPessimistic), worst.Distance)
	}
	const shown = 6
	for _, p := range candidates {
		a := answer{Rank: fmt.Sprint(p.Position), Entity: p.Entity, Probability: percent(p.Probability), Bar: bar(p.Probability)}
		if _, isExpected := listed[p.Entity]; isExpected {
			a.Mark, listed[p.Entity] = "expected", true
		} else if len(c.Answers) >= shown || p.Known && len(expected) > 0 {
			continue // filtered ranks leave out known answers
		} else if p.Known {
			a.Mark = "known"
		}
		c.Answers = append(c.Answers, a)
	}
	for _, r := range expected {
		if !listed[r.Answer] { // below the best candidates that score kept
			c.Answers = append(c.Answers, answer{Entity: r.Answer, Mark: "expected"})
			listed[r.Answer] = true
		}
	}
	return c
}

// composeOwnQueries returns the section with the user's own queries, empty without any.
func (e *evidence) composeOwnQueries() section {
	if len(e.own) == 0 {
		return section{}
	}
	s := section{ID: "own", Title: "Your queries", Cards: e.own[:min(ownShown, len(e.own))]}
	s.Lead = []string{"The best candidates with their probabilities. Known answers are facts of the dataset."}
	if len(e.own) > ownShown {
		s.Lead = append(s.Lead, fmt.Sprintf("These are the first %d of %s; all are in evaluation/queries.", ownShown, count(int64(len(e.own)))))
	}
	return s
}

// composePredictions returns the section with predictions for queries of a split, empty without any.
func (e *evidence) composePredictions() section {
	s := section{ID: queriesSection, Title: "Predictions"}
	if len(e.evaluations) > 0 && len(e.evaluations[0].cards) > 0 {
		s.Lead = []string{"Queries of the " + e.evaluations[0].Split + " split: first some that are answered right, then some that are not. Other known answers are filtered out, which leaves gaps in the positions."}
		s.Cards = e.evaluations[0].cards
	} else if len(e.gaps[queriesSection]) == 0 {
		return section{}
	}
	return s
}
