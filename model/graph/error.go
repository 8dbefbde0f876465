package graph

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// QueryError is an error about a query, or about its answer if it has one. Its text has ids: Named has names.
type QueryError struct {
	// Doing is what failed, such as scoring.
	Doing string
	Query
	Err error
}

// Error returns "scoring (source, relation, answer): ...".
func (e *QueryError) Error() string {
	id := func(id int32) string { return strconv.Itoa(int(id)) }
	return e.text(id, id)
}

// Unwrap returns the error without the query.
func (e *QueryError) Unwrap() error { return e.Err }

func (e *QueryError) text(entity, relation func(int32) string) string {
	answer := "?"
	if e.Answer >= 0 {
		answer = entity(e.Answer)
	}
	return fmt.Sprintf("%s (%s, %s, %s): %v", e.Doing, entity(e.Source), relation(e.Relation), answer, e.Err)
}

// named is an error whose text has names.
type named struct {
	error
	text string
}

func (n *named) Error() string { return n.text }
func (n *named) Unwrap() error { return n.error }

// Named returns an error, which may wrap a QueryError, with the names of entities and relations. An inverse relation's
// name begins with ~.
func Named(err error, entities, relations []string) error {
	e, ok := errors.AsType[*QueryError](err)
	if !ok || max(int(e.Source), int(e.Answer)) >= len(entities) || int(e.Relation) >= 2*len(relations) {
		return err
	}
	texts := e.text(func(id int32) string { return strconv.Quote(entities[id]) }, func(id int32) string { return strconv.Quote(RelationName(relations, id)) })
	return &named{err, strings.Replace(err.Error(), e.Error(), texts, 1)}
}

// RelationName returns the name of a relation, of an inverse one that of its base relation with a leading ~.
func RelationName(base []string, id int32) string {
	if int(id) < len(base) {
		return base[id]
	}
	return "~" + base[int(id)-len(base)]
}
