package serve

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"tagnet/model"
	"tagnet/pipelines/internal/serve/batch"
)

// The limits of a request.
const (
	mostQueries   = 100
	mostAnswers   = 1000 // of a query
	mostBody      = 128 << 10
	usualAnswers  = 10
	mostEntities  = 100
	usualEntities = 10
)

// request is the body of a request for answers: one query, or a list of them.
type request struct {
	query
	Queries []query `json:"queries"`
	K       *int    `json:"k"`
	OnlyNew bool    `json:"only_new"`
	// Candidates restricts the answers to the entities of a type, as type:NAME.
	Candidates *string `json:"candidates"`
}

// query is a query by name. A relation with a leading ~ is the inverse one.
type query struct {
	Source   *string `json:"source"`
	Relation *string `json:"relation"`
}

// result is the answers to a query.
type result struct {
	Source   string   `json:"source"`
	Relation string   `json:"relation"`
	Answers  []answer `json:"answers"`
}

// answer is one answer, the best first.
type answer struct {
	Entity string  `json:"entity"`
	Score  float32 `json:"score"`
	// Probability is nil if the checkpoint has no calibration.
	Probability *float64 `json:"probability,omitempty"`
	// Hops is nil for an entity that no message from the source reaches.
	Hops  *int `json:"hops"`
	Known bool `json:"known"`
}

// results is the response to a list of queries.
type results struct {
	Results []result `json:"results"`
}

// answerOne answers the query of a URL.
func (s *server) answerOne(w http.ResponseWriter, r *http.Request) error {
	p, err := parameters(r, "source", "relation", "k", "only_new", "candidates", "format")
	if err != nil {
		return err
	}
	q := request{query: query{p.text("source"), p.text("relation")}}
	if q.K, err = p.number("k"); err != nil {
		return err
	}
	if q.OnlyNew, err = p.flag("only_new"); err != nil {
		return err
	}
	q.Candidates = p.text("candidates")
	table, err := p.csv()
	if err != nil {
		return err
	}
	response, err := s.answer(r.Context(), q)
	switch {
	case err != nil:
		return err
	case table:
		return writeCSV(w, response.Results[0])
	}
	return writeJSON(w, http.StatusOK, response.Results[0])
}

// answerBody answers the queries of a body.
func (s *server) answerBody(w http.ResponseWriter, r *http.Request) error {
	if _, err := parameters(r); err != nil {
		return err
	}
	q, err := decode(w, r)
	if err != nil {
		return err
	}
	response, err := s.answer(r.Context(), q)
	switch {
	case err != nil:
		return err
	case q.Queries == nil:
		return writeJSON(w, http.StatusOK, response.Results[0])
	}
	return writeJSON(w, http.StatusOK, response)
}

// asked are the queries of a request, after its checks.
type asked struct {
	queries []model.Query
	single  bool // one query, without a list
	k       int
	key     batchKey // without a source
}

// check checks a request, and admits its queries.
func (s *server) check(ctx context.Context, q request) (a asked, err error) {
	a.single, a.key.onlyNew = q.Queries == nil, q.OnlyNew
	switch {
	case a.single:
		q.Queries = []query{q.query}
	case q.Source != nil || q.Relation != nil:
		return a, invalid("source and relation stand in each of queries, or alone without queries")
	}
	a.k, err = checkedCount("k", q.K, usualAnswers, mostAnswers)
	switch {
	case err != nil:
		return a, err
	case len(q.Queries) == 0 || len(q.Queries) > mostQueries:
		return a, invalid("%d queries: want 1 to %d in a request", len(q.Queries), mostQueries)
	case !admitRest(ctx, len(q.Queries)):
		return a, s.busy()
	}
	if q.Candidates != nil {
		if a.key.kind, a.key.typed = strings.CutPrefix(*q.Candidates, "type:"); !a.key.typed {
			return a, invalid("candidates is %q: want type: and the name of an entity type", *q.Candidates)
		}
	}
	a.queries = make([]model.Query, len(q.Queries))
	for i, one := range q.Queries {
		if a.queries[i], err = s.resolve(ctx, one); err != nil {
			if !a.single {
				err = fmt.Errorf("query %d: %w", i+1, err)
			}
			return a, err
		}
	}
	return a, nil
}

// answer answers the query of a request, or its list of queries.
func (s *server) answer(ctx context.Context, q request) (results, error) {
	a, err := s.check(ctx, q)
	if err != nil {
		return results{}, err
	}
	found, err := s.ask(ctx, a)
	if err != nil {
		return results{}, err
	}
	response := results{make([]result, len(a.queries))}
	for i, answers := range found {
		response.Results[i] = result{a.queries[i].Source, a.queries[i].Relation, make([]answer, len(answers))}
		for j, one := range answers {
			response.Results[i].Answers[j] = shown(one)
		}
	}
	return response, nil
}

// The failures of a query that is not complete.
var (
	errNoSource   = invalid("source is missing: want the name of an entity")
	errNoRelation = invalid("relation is missing: want the name of a relation, with a leading ~ for the inverse one")
)

// resolve checks that a query is complete and that the graph has its names. Few requests search for the closest names
// at a time, since that takes long in a graph with many.
func (s *server) resolve(ctx context.Context, q query) (model.Query, error) {
	switch {
	case q.Source == nil:
		return model.Query{}, errNoSource
	case q.Relation == nil:
		return model.Query{}, errNoRelation
	}
	named := model.Query{Source: *q.Source, Relation: *q.Relation}
	leave, err := s.lookUp(ctx)
	if err != nil {
		return model.Query{}, err
	}
	defer leave()
	return named, s.model.Check(ctx, named)
}

// lookUp waits until the request may look at all names, until leave is called.
func (s *server) lookUp(ctx context.Context) (leave func(), err error) {
	select {
	case s.lookups <- struct{}{}:
		return func() { <-s.lookups }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// batchKey is what queries that share a batch have in common: their source, and which answers they want.
type batchKey struct {
	source  string
	onlyNew bool
	typed   bool // only answers of the type kind
	kind    string
}

// options returns how the model restricts the answers.
func (key batchKey) options() (list []model.AskOption) {
	if key.onlyNew {
		list = append(list, model.OnlyNew())
	}
	if key.typed {
		list = append(list, model.OfType(key.kind))
	}
	return list
}

// ask returns the answers of queries, which it submits all at once.
func (s *server) ask(ctx context.Context, a asked) ([][]model.Answer, error) {
	key, options := a.key, a.key.options()
	compute := func(ctx context.Context, queries []model.Query, k int) ([][]model.Answer, error) {
		return s.model.AskAll(ctx, queries, k, options...)
	}
	tickets := make([]batch.Ticket, len(a.queries))
	for i, one := range a.queries {
		key.source = one.Source
		tickets[i] = s.batches.Submit(key, one, a.k, compute)
	}
	answers := make([][]model.Answer, len(a.queries))
	var first error
	for i, ticket := range tickets { // each is redeemed, also after an error
		var err error
		if answers[i], err = ticket.Answer(ctx); err != nil && first == nil {
			first = err
			var cancel context.CancelCauseFunc
			ctx, cancel = context.WithCancelCause(ctx)
			cancel(err)
		}
	}
	return answers, first
}

// shown returns an answer as it is written.
func shown(a model.Answer) answer {
	out := answer{Entity: a.Entity, Score: a.Score, Probability: a.Probability, Known: a.Known}
	if a.Hops != model.Unreached {
		out.Hops = &a.Hops
	}
	return out
}
