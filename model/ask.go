package model

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tagnet/formats/hop"
	"tagnet/model/answer"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
)

// Query asks for the tails of a relation from a source, (Source, Relation, ?).
type Query struct {
	// Source and Relation are names. Inverse, or a leading ~ on the relation, asks the inverse query.
	Source, Relation string
	// Inverse asks for the heads of the relation: (?, Relation, Source).
	Inverse bool
}

// ids looks up the names of a query.
func (m *Model) ids(ctx context.Context, q Query) (graph.Query, error) {
	relation, inverse := strings.CutPrefix(q.Relation, "~")
	return m.lookup.Query(ctx, q.Source, relation, inverse || q.Inverse)
}

// Answers are a query's answers: the surest first or, where there are no probabilities, the highest scores first.
type Answers struct {
	List []Answer
	// Unlisted is the number of known answers that WithKnown does not list.
	Unlisted int
	// OneAtMost is set if at most one of them is true, as far as the graph tells: nearly all of its entities
	// have one answer, and this one has none. Their probabilities then sum to 1 at most. It is not set before
	// anything is fitted.
	OneAtMost bool
}

// Answer is an entity that may be, or is known to be, an answer of a query. Its JSON is what serve answers.
type Answer struct {
	Entity string `json:"entity"`
	// Probability is the probability that the fact is true, given that the graph does not state it, or nil: nothing is
	// fitted yet (Fit), or too few facts of the relation are known. It is the same for a query in either direction, and
	// for Score, Between and Discover.
	Probability *float64 `json:"probability,omitempty"`
	// Odds are the probability as people read it; see the function.
	Odds string `json:"odds,omitempty"`
	// Score is the model's logit, and Rank the filtered rank among all entities, with ties counted against the answer.
	// How likely an answer with a score is true differs between models and relations.
	Score float32 `json:"score"`
	Rank  int64   `json:"rank"`
	// OtherScore and OtherRank belong to the source as an answer of the query in the other direction, from Entity.
	OtherScore float32 `json:"other_score"`
	OtherRank  int64   `json:"other_rank"`
	// Hops is the least number of edges from the source to the entity without the fact itself, or Unreached where the
	// entity is farther away than the model has layers.
	Hops Hops `json:"hops"`
	// Known is true if the answer is a known fact: one of the graph or of its validation and test splits. It was scored
	// without that fact.
	Known bool `json:"known"`
	// Verdict is true or false if the answer is known because a person judged it.
	Verdict string `json:"verdict,omitempty"`
}

// Hops is a number of edges, or Unreached, which is null in JSON.
type Hops int

// Unreached is the number of hops to an entity that no message from the source reaches.
const Unreached Hops = hop.Column

// MarshalJSON returns the number or null.
func (h Hops) MarshalJSON() ([]byte, error) {
	if h == Unreached {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(h), 10), nil
}

// UnmarshalJSON reads what MarshalJSON returns.
func (h *Hops) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*h = Unreached
		return nil
	}
	return json.Unmarshal(text, (*int)(h))
}

// AskOption changes which answers Ask and AskAll return.
type AskOption func(*asking)

// asking has the values of AskOptions.
type asking struct {
	known      bool
	candidates []string // nil for all entities
	kind       *string  // a type, of OfType
}

// WithKnown adds the known answers, each scored in the graph without its fact, which takes two propagations: the 100
// highest scores. Of others there is the number, Answers.Unlisted.
func WithKnown() AskOption { return func(a *asking) { a.known = true } }

// Among leaves out all answers but the given entities.
func Among(entities []string) AskOption {
	return func(a *asking) { a.candidates = append([]string{}, entities...) }
}

// asking returns the request for k new answers, with options.
func (m *Model) asking(ctx context.Context, k int, options []AskOption) (answer.Asking, error) {
	if k < 1 {
		return answer.Asking{}, fmt.Errorf("asking for %d answers, want 1 or more", k)
	}
	var a asking
	for _, option := range options {
		option(&a)
	}
	asked := answer.Asking{Best: k, Known: a.known}
	var err error
	if asked.Estimator, err = m.estimator(); err != nil {
		return asked, err
	}
	if a.kind != nil {
		asked.Among, err = m.opened.View.OfType(ctx, *a.kind)
		return asked, err
	}
	if a.candidates == nil {
		return asked, nil
	}
	asked.Among = make([]int32, len(a.candidates))
	for i, name := range a.candidates {
		if asked.Among[i], err = m.lookup.Entity(ctx, name); err != nil {
			return asked, fmt.Errorf("candidate %d: %w", i+1, err)
		}
	}
	slices.Sort(asked.Among)
	asked.Among = slices.Compact(asked.Among)
	return asked, nil
}

// Ask returns the k best new answers of a query, fewer where there are fewer. The best ones by their scores, at least
// 10, are queried in the other direction, too: a query takes as many propagations. The error of an unknown entity or
// relation is an *UnknownNameError.
func (m *Model) Ask(ctx context.Context, query Query, k int, options ...AskOption) (Answers, error) {
	asked, err := m.asking(ctx, k, options)
	if err != nil {
		return Answers{}, err
	}
	ids, err := m.ids(ctx, query)
	if err != nil {
		return Answers{}, err
	}
	answers, err := m.ask(ctx, []graph.Query{ids}, asked)
	if err != nil {
		return Answers{}, err
	}
	return answers[0], nil
}

// AskAll returns the k best new answers of each query, in the order of the queries. It answers the queries of a source
// together, also of concurrent calls, and uses all workers; the answers equal Ask's. Concurrent calls take turns. If a
// name is unknown, no query is answered. It returns as soon as ctx ends.
func (m *Model) AskAll(ctx context.Context, queries []Query, k int, options ...AskOption) ([]Answers, error) {
	asked, err := m.asking(ctx, k, options)
	if err != nil {
		return nil, err
	}
	ids := make([]graph.Query, len(queries))
	for i, q := range queries {
		if ids[i], err = m.ids(ctx, q); err != nil {
			return nil, fmt.Errorf("query %d: %w", i+1, err)
		}
	}
	return m.ask(ctx, ids, asked)
}

func (m *Model) ask(ctx context.Context, queries []graph.Query, asked answer.Asking) ([]Answers, error) {
	found, err := m.opened.Ask(ctx, queries, asked)
	if err != nil {
		return nil, m.failed(err)
	}
	answers := make([]Answers, len(queries))
	for i, answered := range found {
		answers[i].Unlisted, answers[i].OneAtMost = answered.Unlisted, answered.OneAtMost
		for _, j := range answered.List {
			answers[i].List = append(answers[i].List, m.named(queries[i].Relation, &j))
		}
	}
	return answers, nil
}

// Watch has done called after each batch of queries that were computed together, for one call or several, with their
// number and the time that they took, by a thread, which waits for it.
func (m *Model) Watch(done func(queries int, took time.Duration)) { m.opened.Watch(done) }

// failed says by name what failed, and the model.
func (m *Model) failed(err error) error {
	return fmt.Errorf("%s: %w", m.Checkpoint(), graph.Named(err, m.opened.View.Entities, m.opened.KG.Relations))
}

// named turns what is said of a fact into an answer of a query with the relation.
func (m *Model) named(relation int32, j *answer.Estimated) Answer {
	asked, other := j.Sides(relation)
	p := probabilityOf(j.Estimate)
	return Answer{
		Entity: m.opened.View.Entities[j.Entity(relation)], Probability: p, Odds: Odds(p), Score: asked.Score, Rank: asked.Rank,
		OtherScore: other.Score, OtherRank: other.Rank, Hops: Hops(j.Hops), Known: j.Known,
		Verdict: string(j.Verdict),
	}
}

// OfType leaves out all answers but the entities of a type of the dataset; it replaces Among. The error of a type that
// the graph does not have is an *UnknownNameError, or ErrNoTypes if it has none at all.
func OfType(name string) AskOption { return func(a *asking) { a.kind = &name } }

// ErrNoTypes is the error of OfType for a graph whose dataset gives no types.
var ErrNoTypes = kg.ErrNoTypes

// Types returns the names of the types that entities of the graph have, for OfType; none if the dataset gives none.
func (m *Model) Types(ctx context.Context) ([]string, error) { return m.opened.View.Types(ctx) }
