package model

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"tagnet/formats/reach"
	"tagnet/model/answer"
	"tagnet/model/graph"
	"tagnet/model/ranking"
)

// Query asks for the tails of a relation from a source, (Source, Relation, ?).
type Query struct {
	// Source and Relation are names. A leading ~ on the relation asks the inverse query, as Inverse does.
	Source, Relation string
	// Inverse asks for the heads of the relation: (?, Relation, Source).
	Inverse bool
}

// ids looks up the names of a query.
func (m *Model) ids(ctx context.Context, q Query) (graph.Query, error) {
	relation, inverse := strings.CutPrefix(q.Relation, "~")
	return m.lookup.Query(ctx, q.Source, relation, inverse || q.Inverse)
}

// Answer is an entity that the model ranks among the best answers of a query.
type Answer struct {
	Entity string
	// Score is the model's logit, which orders the answers. How likely an answer with a score is true differs between
	// models and relations.
	Score float32
	// Probability is the calibrated probability that the answer is true, or nil if the checkpoint has no calibration.
	Probability *float64
	// Hops is the least number of edges from the source to the entity, or Unreached where the entity is
	// farther away than the model has layers.
	Hops int
	// Known is true if the answer is one of the facts of the graph or of its validation and test splits.
	Known bool
}

// Unreached is the number of hops to an entity that no message from the source reaches.
const Unreached = reach.Column

// AskOption changes which answers Ask and AskAll return.
type AskOption func(*asking)

type asking struct {
	known      ranking.Known
	candidates []string // nil for all entities
	kind       *string  // a type, of OfType
}

// OnlyNew leaves out known answers, and the source itself.
func OnlyNew() AskOption { return func(a *asking) { a.known = ranking.LeftOut } }

// Among leaves out all answers but the given entities.
func Among(entities []string) AskOption {
	return func(a *asking) { a.candidates = append([]string{}, entities...) }
}

// selection returns what is listed of k answers.
func (m *Model) selection(ctx context.Context, k int, options []AskOption) (ranking.Selection, error) {
	if k < 1 {
		return ranking.Selection{}, fmt.Errorf("asking for %d answers, want 1 or more", k)
	}
	var a asking
	for _, option := range options {
		option(&a)
	}
	s := ranking.Selection{K: k, Known: a.known}
	if a.kind != nil {
		var err error
		s.Candidates, err = m.opened.View.OfType(ctx, *a.kind)
		return s, err
	}
	if a.candidates == nil {
		return s, nil
	}
	s.Candidates = make([]int32, len(a.candidates))
	for i, name := range a.candidates {
		var err error
		if s.Candidates[i], err = m.lookup.Entity(ctx, name); err != nil {
			return s, fmt.Errorf("candidate %d: %w", i+1, err)
		}
	}
	slices.Sort(s.Candidates)
	s.Candidates = slices.Compact(s.Candidates)
	return s, nil
}

// Ask returns the k best answers of a query, best first, known ones among them unless the options leave them out; fewer where
// there are fewer. The error of an unknown entity or relation is an *UnknownNameError.
func (m *Model) Ask(ctx context.Context, query Query, k int, options ...AskOption) ([]Answer, error) {
	list, err := m.selection(ctx, k, options)
	if err != nil {
		return nil, err
	}
	request, err := m.request(ctx, query)
	if err != nil {
		return nil, err
	}
	answers, err := m.answers(ctx, []answer.Request{request}, list)
	if err != nil {
		return nil, err
	}
	return answers[0], nil
}

// AskAll returns the k best answers of each query, in the order of the queries. It answers the queries of a source together, those of concurrent
// calls, too, and uses all workers; the answers equal those of Ask. Concurrent calls take turns. If a name is unknown, no query is answered. It
// returns as soon as ctx ends.
func (m *Model) AskAll(ctx context.Context, queries []Query, k int, options ...AskOption) ([][]Answer, error) {
	list, err := m.selection(ctx, k, options)
	if err != nil {
		return nil, err
	}
	requests := make([]answer.Request, len(queries))
	for i, q := range queries {
		if requests[i], err = m.request(ctx, q); err != nil {
			return nil, fmt.Errorf("query %d: %w", i+1, err)
		}
	}
	return m.answers(ctx, requests, list)
}

// request looks up the names of a query.
func (m *Model) request(ctx context.Context, q Query) (answer.Request, error) {
	ids, err := m.ids(ctx, q)
	if err != nil {
		return answer.Request{}, err
	}
	return answer.Request{Query: ids, Rows: []int64{0}, Answers: []int32{graph.None}, Known: m.known.Of(ids.Source, ids.Relation)}, nil
}

// answers returns the selected answers of each request.
func (m *Model) answers(ctx context.Context, requests []answer.Request, list ranking.Selection) ([][]Answer, error) {
	ranked, err := m.opened.Answer(ctx, requests, answer.Want{Selection: list})
	if err != nil {
		return nil, m.failed(err)
	}
	answers := make([][]Answer, len(requests))
	for i, q := range ranked.Queries {
		for _, c := range q.Best {
			answers[i] = append(answers[i], m.named(q.Relation, c))
		}
	}
	return answers, nil
}

// Watch has done called after each batch of queries that were computed together, for one call or several, with their number and the time that they
// took, by a thread, which waits for it. No query is under way meanwhile.
func (m *Model) Watch(done func(queries int, took time.Duration)) { m.opened.Watch(done) }

// failed says by name what failed, and the model.
func (m *Model) failed(err error) error {
	return fmt.Errorf("%s: %w", m.Checkpoint(), graph.Named(err, m.opened.View.Entities, m.opened.KG.Relations))
}

// named turns a candidate of a query with the relation into an answer.
func (m *Model) named(relation int32, c answer.Candidate) Answer {
	a := Answer{Entity: m.opened.View.Entities[c.Entity], Score: c.Score, Hops: int(c.Distance), Known: c.Known}
	if fitted := m.opened.Calibration; fitted != nil {
		p := fitted.Probability(relation, c.Score)
		a.Probability = &p
	}
	return a
}
