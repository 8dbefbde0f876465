package kg

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"tagnet/formats/names"
	"tagnet/model/graph"
)

// Lookup finds the ids of the names in a query, and may be used concurrently.
type Lookup struct{ entities, relations index }

// index finds ids by name.
type index struct {
	kind  string   // entity, relation or type
	names []string // in byte order
	// unknown are names that the graph has, and the model does not.
	unknown []string
}

// UnknownNameError is the error of an entity or a relation that the graph does not have, or of a relation that the
// model does not know.
type UnknownNameError struct {
	// Kind is "entity", "relation" or "type", Name the name that was not found.
	Kind, Name string
	// Closest are up to three names that the graph has, the most similar first.
	Closest []string
	// Untrained reports that the graph has the relation, and the model was trained without it.
	Untrained bool
}

// shownLetters is how many letters of a name an error shows.
const shownLetters = 100

// shown returns a name as errors quote it, a long one cut.
func shown(name string) string {
	letters := 0
	for at := range name {
		if letters++; letters > shownLetters {
			return fmt.Sprintf("%q... (%d bytes)", name[:at], len(name))
		}
	}
	return strconv.Quote(name)
}

// Error names the closest names.
func (e *UnknownNameError) Error() string {
	if e.Untrained {
		return fmt.Sprintf("the model was not trained with the %s %s of the graph", e.Kind, shown(e.Name))
	}
	quote := shown
	if len(e.Closest) > 0 && norm.NFC.String(e.Name) == norm.NFC.String(e.Closest[0]) {
		quote = strconv.QuoteToASCII // they look alike, as only their accents are encoded in two ways
	}
	quoted := make([]string, len(e.Closest))
	for i, name := range e.Closest {
		quoted[i] = quote(name)
	}
	return fmt.Sprintf("unknown %s %s; closest: %s", e.Kind, quote(e.Name), strings.Join(quoted, ", "))
}

// NewLookup returns the lookup of a graph's entities, by id, and of its base relations, by id. Both are in byte order,
// as tables of names are.
func NewLookup(entities, relations []string) *Lookup {
	return &Lookup{index{kind: "entity", names: entities}, index{kind: "relation", names: relations}}
}

// Lookup returns the lookup of the names of one of the graph's views.
func (k *KG) Lookup(v *View) *Lookup {
	l := NewLookup(v.Entities, k.Relations)
	l.relations.unknown = k.Unknown
	return l
}

// Entity returns the id of an entity. Errors are as Query's.
func (l *Lookup) Entity(ctx context.Context, name string) (int32, error) {
	return l.entities.id(ctx, name)
}

// Relation returns the id of a relation, or of its inverse. Errors are as Query's.
func (l *Lookup) Relation(ctx context.Context, name string, inverse bool) (int32, error) {
	id, err := l.relations.id(ctx, name)
	if inverse {
		id += int32(len(l.relations.names))
	}
	return id, err
}

// HasEntity reports whether the graph has an entity. Unlike Entity it searches no closest names.
func (l *Lookup) HasEntity(name string) bool { return l.entities.has(name) }

// HasRelation reports whether the graph has a base relation. It searches no closest names either.
func (l *Lookup) HasRelation(name string) bool { return l.relations.has(name) }

// Query returns the query (source, relation, ?) by id, or its inverse, (source, ~relation, ?). The error of a
// name that the graph does not have is an *UnknownNameError, unless ctx ends during the search for the closest ones.
func (l *Lookup) Query(ctx context.Context, source, relation string, inverse bool) (graph.Query, error) {
	s, err := l.Entity(ctx, source)
	if err != nil {
		return graph.Query{}, err
	}
	r, err := l.Relation(ctx, relation, inverse)
	if err != nil {
		return graph.Query{}, err
	}
	return graph.Query{Source: s, Relation: r, Answer: graph.None}, nil
}

// Fact returns a fact by ids. Errors are as Query's.
func (l *Lookup) Fact(ctx context.Context, head, relation, tail string) (graph.Fact, error) {
	q, err := l.Query(ctx, head, relation, false)
	if err != nil {
		return graph.Fact{}, err
	}
	t, err := l.Entity(ctx, tail)
	return graph.Fact{Head: q.Source, Relation: q.Relation, Tail: t}, err
}

func (x index) has(name string) bool {
	_, ok := slices.BinarySearch(x.names, name)
	return ok
}

// id returns the number of a name, or an *UnknownNameError with the names closest to it.
func (x index) id(ctx context.Context, name string) (int32, error) {
	if id, ok := slices.BinarySearch(x.names, name); ok {
		return int32(id), nil
	}
	closest := names.ClosestContext(ctx, name, x.names, 3)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return 0, &UnknownNameError{x.kind, name, closest, slices.Contains(x.unknown, name)}
}
