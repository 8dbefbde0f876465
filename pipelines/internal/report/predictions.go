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

// How many questions of each kind the page shows.
const rightShown, wrongShown, ownShown = 9, 6, 30

// question is what was asked; several facts may ask it.
type question struct{ source, relation, direction string }

// ranked is a row of rankings.parquet.
type ranked struct {
	question
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

// answered is a question with the candidates that the model prefers, best first.
type answered struct {
	question
	candidates []candidate
}

// head is the direction of a question for the head of a fact.
const head = "head"

// readTables reads the ranks of a split, and the predictions for the questions that the page
// shows.
func (v *evaluation) readTables(ctx context.Context, folder string) error {
	ranks, err := readRankings(ctx, storage.Join(folder, "rankings.parquet"))
	if err != nil {
		return err
	}
	v.ranks = ranks
	right, wrong := choose(ranks)
	wanted := map[question]bool{}
	for _, q := range slices.Concat(right, wrong) {
		wanted[q] = true
	}
	predictions, err := readPredictions(ctx, storage.Join(folder, "predictions.parquet"), func(q question) bool { return wanted[q] })
	if err != nil {
		return err
	}
	byQuestion := map[question][]candidate{}
	for _, one := range predictions {
		byQuestion[one.question] = one.candidates
	}
	asked := map[question][]ranked{}
	for _, r := range ranks {
		if wanted[r.question] {
			asked[r.question] = append(asked[r.question], r)
		}
	}
	for _, q := range slices.Concat(right, wrong) {
		v.cards = append(v.cards, newCard(answered{q, byQuestion[q]}, asked[q]))
	}
	return nil
}

// readQuestions reads the answers to a user's own questions, if any were asked.
func (e *evidence) readQuestions(ctx context.Context, w workspace.Workspace) {
	url := storage.Join(w.Evaluation("queries"), "predictions.parquet")
	there, err := storage.Exists(ctx, url)
	if err != nil || !there {
		return
	}
	const command = "go run ./pipelines/score --queries FILE"
	if err = e.whole(ctx, w, workspace.EvaluationFolder("queries"), command); err == nil {
		e.questions, err = readPredictions(ctx, url, func(question) bool { return true })
	}
	if err != nil {
		e.missing(questionsSection, "The answers to your own questions cannot be shown. They are made by", w.Command(command), err)
	}
}

// choose picks questions that the model answers right and wrong, as many different relations
// as there are, always the same ones for the same ranks.
func choose(ranks []ranked) (right, wrong []question) {
	worst := map[question]int64{}
	for _, r := range ranks {
		worst[r.question] = max(worst[r.question], r.pessimistic)
	}
	questions := make([]question, 0, len(worst))
	for q := range worst {
		questions = append(questions, q)
	}
	slices.SortFunc(questions, func(a, b question) int {
		return cmp.Or(cmp.Compare(draw(a), draw(b)), cmp.Compare(a.source, b.source), cmp.Compare(a.relation, b.relation), cmp.Compare(a.direction, b.direction))
	})
	right = spread(questions, rightShown, func(q question) bool { return worst[q] == 1 })
	wrong = spread(questions, wrongShown, func(q question) bool { return worst[q] > 10 })
	if len(wrong) == 0 {
		wrong = spread(questions, wrongShown, func(q question) bool { return worst[q] > 1 })
	}
	return right, wrong
}

// draw is a number that depends on the question alone.
func draw(q question) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\t%s\t%s", q.source, q.relation, q.direction)
	return h.Sum64()
}

// spread takes up to n of the questions that are wanted, and one of each relation and
// direction before a second one of any.
func spread(questions []question, n int, wanted func(question) bool) []question {
	type kind struct{ relation, direction string }
	taken := map[kind]int{}
	rounds := map[int][]question{}
	last := 0
	for _, q := range questions {
		if !wanted(q) {
			continue
		}
		k := kind{q.relation, q.direction}
		rounds[taken[k]] = append(rounds[taken[k]], q)
		last = max(last, taken[k])
		taken[k]++
	}
	var chosen []question
	for round := 0; round <= last && len(chosen) < n; round++ {
		chosen = append(chosen, rounds[round]...)
	}
	return chosen[:min(n, len(chosen))]
}

// newCard shows a question, its candidates, and where the answers that were asked for rank.
func newCard(q answered, asked []ranked) card {
	c := card{Source: q.source, Relation: q.relation, Reciprocal: q.direction == head}
	rank := map[string]int64{}
	worst := ranked{}
	for _, r := range asked {
		rank[r.answer] = r.pessimistic
		if r.pessimistic >= worst.pessimistic {
			worst = r
		}
	}
	switch {
	case len(asked) == 0:
	case worst.pessimistic == 1 && len(asked) == 1:
		c.Verdict, c.Good = "right", true
	case worst.pessimistic == 1:
		c.Verdict, c.Good = fmt.Sprintf("right, all %d answers", len(asked)), true
	case worst.distance < 0:
		c.Verdict = fmt.Sprintf("%s is out of reach: rank %s", worst.answer, count(worst.pessimistic))
	default:
		c.Verdict = fmt.Sprintf("%s has rank %s, at distance %d", worst.answer, count(worst.pessimistic), worst.distance)
	}
	const shown = 6
	listed := map[string]bool{}
	for _, one := range q.candidates {
		_, isAsked := rank[one.entity]
		if !isAsked && (len(c.Answers) >= shown || one.known && len(asked) > 0) {
			continue // known answers do not count in the ranks of a split
		}
		listed[one.entity] = true
		a := answer{Rank: fmt.Sprint(one.position), Entity: one.entity, Probability: percent(one.probability),
			Share: template.CSS(fmt.Sprintf("--share:%.1f%%", 100*max(0, min(1, one.probability))))}
		switch {
		case isAsked:
			a.Mark = "asked"
		case one.known:
			a.Mark = "known"
		}
		c.Answers = append(c.Answers, a)
	}
	for _, r := range asked {
		if !listed[r.answer] { // below the best candidates that score kept
			c.Answers = append(c.Answers, answer{Entity: r.answer, Mark: "asked"})
			listed[r.answer] = true
		}
	}
	return c
}

// questionsPart shows questions by name, the user's own first.
func (e *evidence) questionsPart() []section {
	var parts []section
	if len(e.questions) > 0 {
		own := section{ID: "own", Title: "Your questions"}
		own.Lead = []string{"What the model answers, with its probability. Known answers stand in the data already."}
		for _, q := range e.questions[:min(ownShown, len(e.questions))] {
			own.Cards = append(own.Cards, newCard(q, nil))
		}
		if len(e.questions) > ownShown {
			own.Lead = append(own.Lead, fmt.Sprintf("These are the first %d of %s; all are in evaluation/queries.", ownShown, count(int64(len(e.questions)))))
		}
		parts = append(parts, own)
	}
	s := section{ID: questionsSection, Title: "Predictions", Gaps: e.gaps[questionsSection]}
	if len(e.evaluations) > 0 && len(e.evaluations[0].cards) > 0 {
		s.Lead = []string{"Questions of the " + e.evaluations[0].Split + " split, first some that are answered right, then some that are not, if there are any. Answers that the data hold already do not count in the ranks and are left out here, which is why places are missing."}
		s.Cards = e.evaluations[0].cards
	}
	if len(s.Cards) > 0 || len(s.Gaps) > 0 {
		parts = append(parts, s)
	}
	return parts
}
