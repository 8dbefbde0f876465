package report

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"tagnet/formats/parquet"
	"tagnet/formats/reach"
	"tagnet/formats/storage"
	"tagnet/stages/evaluate"
)

// The numbers of a split's queries that the page shows.
const rightShown, wrongShown = 9, 6

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

// readTables reads the ranks of a split, and the predictions of the queries that the page shows. One part of a table is
// in memory at a time. All rows of a query are in one part.
func (e *reader) readTables(ctx context.Context, v *evaluation) (err error) {
	folder := e.workspace.Evaluation(v.Split)
	found := newRanks(e.seed, v.worstRelations())
	all := newSearchTable("the "+v.Split+" split", storage.Join(folder, evaluate.PredictionsTable), false)
	var kept []query
	of := map[query][]parquet.Ranking{}
	err = parquet.EachPart(ctx, storage.Join(folder, evaluate.RankingsTable), func(rows []parquet.Ranking) error {
		found.add(rows)
		queries, more := group(rows, rankedQuery, everyQuery)
		all.expect(queries, more)
		maps.Copy(of, more)
		kept = shortlist(append(kept, queries...), of)
		few := make(map[query][]parquet.Ranking, len(kept))
		for _, q := range kept {
			few[q] = of[q]
		}
		of = few
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	v.ranks = found
	chosen := choose(kept, of)
	answers := map[query][]parquet.Prediction{}
	err = parquet.EachPart(ctx, storage.Join(folder, evaluate.PredictionsTable), func(rows []parquet.Prediction) error {
		_, found := group(rows, predictedQuery, func(q query) bool { return slices.Contains(chosen, q) })
		maps.Copy(answers, found)
		all.add(rows)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	e.searched = append(e.searched, all)
	for _, q := range chosen {
		v.cards = append(v.cards, newCard(q, answers[q], of[q]))
	}
	return nil
}

// choose returns queries that the model answers right, then others, each over as many relations as
// possible. It is deterministic.
func choose(queries []query, ranks map[query][]parquet.Ranking) []query {
	queries = drawn(queries)
	right := spread(queries, rightShown, atMost(ranks, 1))
	wrong := spread(queries, wrongShown, above(ranks, 10))
	if len(wrong) == 0 {
		wrong = spread(queries, wrongShown, above(ranks, 1))
	}
	return append(right, wrong...)
}

// shortlist returns the queries that choose may return from these and others: of each relation and direction, as many of
// those that it wants as it returns in all.
func shortlist(queries []query, ranks map[query][]parquet.Ranking) []query {
	queries = drawn(queries)
	kept := map[query]bool{}
	for _, class := range []struct {
		n      int
		wanted func(query) bool
	}{{rightShown, atMost(ranks, 1)}, {wrongShown, above(ranks, 10)}, {wrongShown, above(ranks, 1)}} {
		seen := map[query]int{} // has no sources
		for _, q := range queries {
			if kind := (query{relation: q.relation, direction: q.direction}); class.wanted(q) && seen[kind] < class.n {
				seen[kind]++
				kept[q] = true
			}
		}
	}
	return slices.DeleteFunc(queries, func(q query) bool { return !kept[q] })
}

// drawn returns queries in an order that depends on their names as if it were random.
func drawn(queries []query) []query {
	hashes := map[query]uint64{}
	for _, q := range queries {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s\t%s\t%s", q.source, q.relation, q.direction)
		hashes[q] = h.Sum64()
	}
	return slices.SortedFunc(slices.Values(queries), func(a, b query) int {
		return cmp.Or(cmp.Compare(hashes[a], hashes[b]), strings.Compare(a.source, b.source), strings.Compare(a.relation, b.relation), strings.Compare(a.direction, b.direction))
	})
}

// atMost and above return whether the worst rank of a query's answers is at most, or above, a rank.
func atMost(ranks map[query][]parquet.Ranking, rank int64) func(query) bool {
	wrong := above(ranks, rank)
	return func(q query) bool { return !wrong(q) }
}

func above(ranks map[query][]parquet.Ranking, rank int64) func(query) bool {
	return func(q query) bool {
		return slices.ContainsFunc(ranks[q], func(r parquet.Ranking) bool { return r.RankPessimistic > rank })
	}
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

// newCard returns the card of a query with its predictions, best first, and the ranks of its expected
// answers.
func newCard(q query, predictions []parquet.Prediction, expected []parquet.Ranking) card {
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
	case worst.Distance == reach.Column:
		c.Verdict = fmt.Sprintf("%s is unreached: rank %s", shown(worst.Answer), count(worst.RankPessimistic))
	default:
		c.Verdict = fmt.Sprintf("%s has rank %s, at distance %d", shown(worst.Answer), count(worst.RankPessimistic), worst.Distance)
	}
	const shown = 6
	for _, p := range predictions {
		a := answer{Rank: fmt.Sprint(p.Position), Entity: p.Entity, Value: fmt.Sprintf("%.2f", p.Score)}
		if p.Probability != nil {
			a.Value, a.Bar = percent(*p.Probability), bar(*p.Probability)
		}
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
		if !listed[r.Answer] { // below the predictions that score kept
			c.Answers = append(c.Answers, answer{Entity: r.Answer, Mark: "expected"})
			listed[r.Answer] = true
		}
	}
	return c
}

// composeSearch returns the section that searches predictions, empty without any.
func (e *evidence) composeSearch() section {
	if e.search == nil {
		return section{}
	}
	return section{ID: "all", Title: "All predictions", Lead: e.search.notes, Search: e.search}
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
