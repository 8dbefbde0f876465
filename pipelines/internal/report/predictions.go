package report

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"html/template"
	"slices"

	"tagnet/formats/storage"
	"tagnet/pipelines/internal/workspace"
)

// The numbers of queries that the page shows.
const rightShown, wrongShown, ownShown = 9, 6, 30

// query is a source with a relation and direction; it may have several answers.
type query struct{ source, relation, direction string }

// ranked is a row of rankings.parquet.
type ranked struct {
	query
	answer                  string
	pessimistic, optimistic int64
	distance                int32
}

// candidate is a row of predictions.parquet.
type candidate struct {
	entity      string
	position    int32
	probability float64
	known       bool
	distance    int32
}

// answered is a query with its best candidates, best first.
type answered struct {
	query
	candidates []candidate
}

// head is the direction of a query for the head of a fact.
const head = "head"

// readTables reads the ranks of a split, and the predictions for the queries that the page
// shows.
func (v *evaluation) readTables(ctx context.Context, folder string) error {
	ranks, err := readRankings(ctx, storage.Join(folder, "rankings.parquet"))
	if err != nil {
		return err
	}
	v.ranks = ranks
	right, wrong := choose(ranks)
	wanted := map[query]bool{}
	for _, q := range slices.Concat(right, wrong) {
		wanted[q] = true
	}
	predictions, err := readPredictions(ctx, storage.Join(folder, "predictions.parquet"), func(q query) bool { return wanted[q] })
	if err != nil {
		return err
	}
	byQuery := map[query][]candidate{}
	for _, one := range predictions {
		byQuery[one.query] = one.candidates
	}
	asked := map[query][]ranked{}
	for _, r := range ranks {
		if wanted[r.query] {
			asked[r.query] = append(asked[r.query], r)
		}
	}
	for _, q := range slices.Concat(right, wrong) {
		v.cards = append(v.cards, newCard(answered{q, byQuery[q]}, asked[q]))
	}
	return nil
}

// readQueries reads the answers to a user's own queries, if any were asked.
func (e *evidence) readQueries(ctx context.Context, w workspace.Workspace) {
	url := storage.Join(w.Evaluation("queries"), "predictions.parquet")
	there, err := storage.Exists(ctx, url)
	if err != nil || !there {
		return
	}
	command := w.Command("score", "--queries", "FILE")
	if err = e.whole(ctx, w, workspace.EvaluationFolder("queries"), command); err == nil {
		e.queries, err = readPredictions(ctx, url, func(query) bool { return true })
	}
	if err != nil {
		e.missing(queriesSection, "The answers to your own queries cannot be shown. They are made by", command, err)
	}
}

// choose picks queries that the model answers right and wrong, over as many relations as possible. It
// is deterministic.
func choose(ranks []ranked) (right, wrong []query) {
	worst := map[query]int64{}
	for _, r := range ranks {
		worst[r.query] = max(worst[r.query], r.pessimistic)
	}
	queries := make([]query, 0, len(worst))
	for q := range worst {
		queries = append(queries, q)
	}
	slices.SortFunc(queries, func(a, b query) int {
		return cmp.Or(cmp.Compare(draw(a), draw(b)), cmp.Compare(a.source, b.source), cmp.Compare(a.relation, b.relation), cmp.Compare(a.direction, b.direction))
	})
	right = spread(queries, rightShown, func(q query) bool { return worst[q] == 1 })
	wrong = spread(queries, wrongShown, func(q query) bool { return worst[q] > 10 })
	if len(wrong) == 0 {
		wrong = spread(queries, wrongShown, func(q query) bool { return worst[q] > 1 })
	}
	return right, wrong
}

// draw returns a hash of the query.
func draw(q query) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\t%s\t%s", q.source, q.relation, q.direction)
	return h.Sum64()
}

// spread returns up to n of the wanted queries: one of each relation and direction before a second
// one of any.
func spread(queries []query, n int, wanted func(query) bool) []query {
	type kind struct{ relation, direction string }
	taken := map[kind]int{}
	rounds := map[int][]query{}
	last := 0
	for _, q := range queries {
		if !wanted(q) {
			continue
		}
		k := kind{q.relation, q.direction}
		rounds[taken[k]] = append(rounds[taken[k]], q)
		last = max(last, taken[k])
		taken[k]++
	}
	var chosen []query
	for round := 0; round <= last && len(chosen) < n; round++ {
		chosen = append(chosen, rounds[round]...)
	}
	return chosen[:min(n, len(chosen))]
}

// newCard returns the card of a query with its candidates and the ranks of its expected answers.
func newCard(q answered, expected []ranked) card {
	c := card{Source: q.source, Relation: q.relation, Reciprocal: q.direction == head}
	rank := map[string]int64{}
	worst := ranked{}
	for _, r := range expected {
		rank[r.answer] = r.pessimistic
		if r.pessimistic >= worst.pessimistic {
			worst = r
		}
	}
	switch {
	case len(expected) == 0:
	case worst.pessimistic == 1 && len(expected) == 1:
		c.Verdict, c.Good = "right", true
	case worst.pessimistic == 1:
		c.Verdict, c.Good = fmt.Sprintf("right, all %d answers", len(expected)), true
	case worst.distance < 0:
		c.Verdict = fmt.Sprintf("%s is unreached: rank %s", worst.answer, count(worst.pessimistic))
	default:
		c.Verdict = fmt.Sprintf("%s has rank %s, at distance %d", worst.answer, count(worst.pessimistic), worst.distance)
	}
	const shown = 6
	listed := map[string]bool{}
	for _, one := range q.candidates {
		_, isExpected := rank[one.entity]
		if !isExpected && (len(c.Answers) >= shown || one.known && len(expected) > 0) {
			continue // filtered ranks leave out known answers
		}
		listed[one.entity] = true
		a := answer{Rank: fmt.Sprint(one.position), Entity: one.entity, Probability: percent(one.probability),
			Share: template.CSS(fmt.Sprintf("--share:%.1f%%", 100*max(0, min(1, one.probability))))}
		switch {
		case isExpected:
			a.Mark = "expected"
		case one.known:
			a.Mark = "known"
		}
		c.Answers = append(c.Answers, a)
	}
	for _, r := range expected {
		if !listed[r.answer] { // below the best candidates that score kept
			c.Answers = append(c.Answers, answer{Entity: r.answer, Mark: "expected"})
			listed[r.answer] = true
		}
	}
	return c
}

// queriesPart returns the sections with predictions for single queries, the user's own first.
func (e *evidence) queriesPart() []section {
	var parts []section
	if len(e.queries) > 0 {
		own := section{ID: "own", Title: "Your queries"}
		own.Lead = []string{"The best candidates with their probabilities. Known answers are facts of the dataset."}
		for _, q := range e.queries[:min(ownShown, len(e.queries))] {
			own.Cards = append(own.Cards, newCard(q, nil))
		}
		if len(e.queries) > ownShown {
			own.Lead = append(own.Lead, fmt.Sprintf("These are the first %d of %s; all are in evaluation/queries.", ownShown, count(int64(len(e.queries)))))
		}
		parts = append(parts, own)
	}
	s := section{ID: queriesSection, Title: "Predictions", Gaps: e.gaps[queriesSection]}
	if len(e.evaluations) > 0 && len(e.evaluations[0].cards) > 0 {
		s.Lead = []string{"Queries of the " + e.evaluations[0].Split + " split: first some that are answered right, then some that are not. Other known answers are filtered out, which leaves gaps in the positions."}
		s.Cards = e.evaluations[0].cards
	}
	if len(s.Cards) > 0 || len(s.Gaps) > 0 {
		parts = append(parts, s)
	}
	return parts
}
