package serve

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"tagnet/model"
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
	Known   bool    `json:"known"`
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
	Source   string `json:"source"`
	Relation string `json:"relation"`
	// Answers has the best one first.
	Answers []model.Answer `json:"answers"`
	// Unlisted is the number of known answers that are left out: a response lists a limited number.
	Unlisted int `json:"unlisted"`
	// OneAtMost is set if at most one of the answers is true, as far as the graph tells.
	OneAtMost bool `json:"one_at_most"`
	// Probabilities is as in health.
	Probabilities string `json:"probabilities"`
}

// results is the response to a list of queries, in their order.
type results struct {
	Results []result `json:"results"`
}

// answerOne answers the query of a URL.
func (s *server) answerOne(w http.ResponseWriter, r *http.Request) error {
	p := parameters(r, "source", "relation", "k", "known", "candidates", "format")
	q := request{query: query{p.text("source"), p.text("relation")}, K: p.number("k"), Known: p.flag("known"), Candidates: p.text("candidates")}
	table := p.csv()
	if p.err != nil {
		return p.err
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
	q, err := decode[request](w, r, requestFields, "source and relation, or with queries")
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

// ask checks a request, admits its queries, and returns them with their answers.
func (s *server) ask(ctx context.Context, q request) ([]model.Query, []model.Answers, error) {
	single := q.Queries == nil
	switch {
	case single:
		q.Queries = []query{q.query}
	case q.Source != nil || q.Relation != nil:
		return nil, nil, invalid("source and relation stand in each of queries, or alone without queries")
	}
	// The number of queries is known: they are admitted before their names are looked up.
	k, err := checkedCount("k", q.K, usualAnswers, mostAnswers)
	switch {
	case err != nil:
		return nil, nil, err
	case len(q.Queries) == 0 || len(q.Queries) > mostQueries:
		return nil, nil, invalid("%d queries: want 1 to %d in a request", len(q.Queries), mostQueries)
	case !admitRest(ctx, len(q.Queries)):
		return nil, nil, s.busy()
	}
	var options []model.AskOption
	if q.Known {
		options = append(options, model.WithKnown())
	}
	if q.Candidates != nil {
		kind, typed := strings.CutPrefix(*q.Candidates, "type:")
		if !typed {
			return nil, nil, invalid("candidates is %q: want type: and the name of an entity type", *q.Candidates)
		}
		options = append(options, model.OfType(kind))
	}
	// Errors have the number of the query in the list.
	queries := make([]model.Query, len(q.Queries))
	for i, one := range q.Queries {
		if queries[i], err = one.complete(); err != nil && !single {
			err = fmt.Errorf("query %d: %w", i+1, err)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if single { // whose errors have no number
		found, err := s.model.Ask(ctx, queries[0], k, options...)
		return queries, []model.Answers{found}, err
	}
	found, err := s.model.AskAll(ctx, queries, k, options...)
	return queries, found, err
}

// answer answers the query of a request, or its list of queries.
func (s *server) answer(ctx context.Context, q request) (results, error) {
	s.useVerdicts(ctx)
	state := s.probabilities() // not later, when there may be some that the answers lack
	queries, found, err := s.ask(ctx, q)
	if err != nil {
		return results{}, err
	}
	response := results{make([]result, len(queries))}
	for i, answers := range found {
		list := append([]model.Answer{}, answers.List...) // a list in JSON, too, if it is empty
		response.Results[i] = result{queries[i].Source, queries[i].Relation, list, answers.Unlisted, answers.OneAtMost, state}
	}
	return response, nil
}

// complete returns a query that has a source and a relation.
func (q query) complete() (model.Query, error) {
	switch {
	case q.Source == nil:
		return model.Query{}, missing("source", entityName)
	case q.Relation == nil:
		return model.Query{}, missing("relation", relationName)
	}
	return model.Query{Source: *q.Source, Relation: *q.Relation}, nil
}
