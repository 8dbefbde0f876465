package answer

import (
	"cmp"
	"context"
	"slices"

	"tagnet/formats/workspace/verdicts"
	"tagnet/model/answer/probability"
	"tagnet/model/graph"
)

// Asking selects answers to queries.
type Asking struct {
	// Best is the number of best new answers of a query.
	Best int
	// Among are the only entities that may be answers, ascending; nil allows all.
	Among []int32
	// Known is set if known answers are wanted, too: the best by score, at most MostKnown of a query.
	Known bool
	// Estimator gives probabilities; nil gives none.
	Estimator *probability.Estimator
	// Done may be nil, and counts as in Observe. Each query, and then each of its candidates, counts once, known
	// answers beyond them.
	Done func(queries int)
	// Backward, which may be nil, is called with the number of inverse queries made for the candidates of all queries.
	Backward func(queries int)
}

// Candidates returns how many candidates of a query are queried in the other direction, at most.
func (a *Asking) Candidates() int { return max(a.Best, probability.DefaultK) }

// MostKnown is the most known answers of a query that are listed.
const MostKnown = 100

// Answers are a query's answers, best first: by probability where there are probabilities, else by score.
type Answers struct {
	List []Estimated
	// Unlisted is the number of known answers that are not listed.
	Unlisted int
	// OneAtMost is set if at most one of the answers is true, as far as the graph tells
	// (probability.Estimator.OneAnswer).
	OneAtMost bool
}

// Estimated is an answer as a fact, observed in the graph without the fact, with its estimate.
type Estimated struct {
	probability.Observation
	// Estimate is zero without an Estimator.
	probability.Estimate
	// Known reports whether it is a known fact, or judged, with that Verdict.
	Known   bool
	Verdict verdicts.Judgment
}

// Entity returns the answer to a query with the relation.
func (j *Estimated) Entity(relation int32) int32 {
	if relation == j.Relation {
		return j.Tail
	}
	return j.Head
}

// AskedSide returns the side of a query with the relation.
func (j *Estimated) AskedSide(relation int32) probability.Side {
	asked, _ := j.Sides(relation)
	return asked
}

// Sides returns the side of a query with the relation, and the side of the inverse query.
func (j *Estimated) Sides(relation int32) (asked, other probability.Side) {
	if relation == j.Relation {
		return j.Tails, j.Heads
	}
	return j.Heads, j.Tails
}

// Ask answers queries. If known facts are not to be new answers, the model must be over the graph of all facts. At
// least probability.DefaultK new candidates by score are queried in the other direction, too, and the best of them
// listed. Each known answer takes two propagations.
func (m *Model) Ask(ctx context.Context, queries []graph.Query, a Asking) ([]Answers, error) {
	found, backward, err := m.newCandidates(ctx, queries, a.Candidates(), a.Among, a.Done)
	if err != nil {
		return nil, err
	}
	answers := make([]Answers, len(queries))
	divided, err := m.estimateAll(ctx, queries, found, a, answers)
	if err != nil {
		return nil, err
	}
	if a.Backward != nil {
		a.Backward(backward + divided)
	}
	for i, q := range queries {
		answers[i].OneAtMost = a.Estimator != nil && m.OneAnswer(a.Estimator, q)
		a.order(q.Relation, answers[i].List)
		answers[i].List = answers[i].List[:min(a.Best, len(answers[i].List))]
	}
	if !a.Known {
		return answers, nil
	}
	if err := m.addKnown(ctx, queries, a, answers); err != nil {
		return nil, err
	}
	for i := range answers {
		a.order(queries[i].Relation, answers[i].List)
	}
	return answers, nil
}

// estimateAll estimates the candidates of queries, and returns the number of further queries.
func (m *Model) estimateAll(ctx context.Context, queries []graph.Query, found [][]probability.Observation, a Asking, answers []Answers) (int, error) {
	known := map[graph.Query]*rivals{}
	list := m.estimated(slices.Concat(found...), a.Estimator)
	whole := list
	for i, q := range queries {
		n := len(found[i])
		answers[i].List, list = list[:n:n], list[n:]
		if a.Among == nil { // the query's own candidates are among all entities
			known[graph.Query{Source: q.Source, Relation: q.Relation, Answer: graph.None}] = rivalsOf(q.Relation, answers[i].List)
		}
	}
	return m.divide(ctx, whole, a.Estimator, known, a.Done)
}

// order sorts the answers of a query with the relation.
func (a *Asking) order(relation int32, list []Estimated) {
	slices.SortFunc(list, func(x, y Estimated) int {
		byEstimate := 0
		if a.Estimator != nil {
			byEstimate = x.Estimate.Compare(y.Estimate)
		}
		return cmp.Or(byEstimate, cmp.Compare(y.AskedSide(relation).Score, x.AskedSide(relation).Score), cmp.Compare(x.Entity(relation), y.Entity(relation)))
	})
}

// addKnown adds the known answers of the highest scores. A fact in the graph raises its own score, so that these scores
// only choose the answers.
func (m *Model) addKnown(ctx context.Context, queries []graph.Query, a Asking, answers []Answers) error {
	known, err := m.View.Answers(ctx)
	if err != nil {
		return err
	}
	var rows []Row // numbered by query
	for i, q := range queries {
		list := m.Judged().WithKnown(q, known.Of(q.Source, q.Relation))
		for _, entity := range list {
			if _, is := slices.BinarySearch(a.Among, entity); is || a.Among == nil {
				rows = append(rows, Row{Number: int64(i), Query: graph.Query{Source: q.Source, Relation: q.Relation, Answer: entity}})
			}
		}
	}
	// First scored with their facts in the graph, to choose the best.
	scored, err := m.Answer(ctx, Group(rows, known.Of), Kept{Done: a.Done})
	if err != nil {
		return err
	}
	results := make([][]Result, len(queries))
	for _, q := range scored.Queries {
		for _, r := range q.Results {
			results[r.Row] = append(results[r.Row], r)
		}
	}
	var facts []graph.Fact
	var queryOf []int // the query of each
	for i, list := range results {
		slices.SortFunc(list, func(x, y Result) int {
			return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.Answer, y.Answer))
		})
		kept := min(MostKnown, len(list))
		answers[i].Unlisted = len(list) - kept
		for _, r := range list[:kept] {
			facts, queryOf = append(facts, queries[i].Fact(r.Answer, int32(m.Graph.BaseRelations))), append(queryOf, i)
		}
	}
	// Then observed without their facts, which gives the scores that are shown.
	observed, err := m.Observe(ctx, facts, a.Done)
	if err != nil {
		return err
	}
	for i, j := range m.estimated(observed, a.Estimator) { // a known fact has no rivals
		j.Known, j.Verdict = true, m.Judged().Verdict(j.Fact)
		answers[queryOf[i]].List = append(answers[queryOf[i]].List, j)
	}
	return nil
}
