package kg

import (
	"fmt"
	"strings"

	"tagnet/formats/names"
	"tagnet/formats/tables"
)

// Lookup finds the ids of the names in a query. It holds a map of all names, and may be used concurrently.
type Lookup struct{ entities, relations index }

// index finds ids by name.
type index struct {
	kind  string // entity or relation
	names []string
	ids   map[string]int32
}

// UnknownNameError is the error of an entity or a relation that the graph does not have.
type UnknownNameError struct {
	// Kind is "entity", "relation" or "type", Name the name that was not found.
	Kind, Name string
	// Closest are up to three names that the graph has, the most similar first.
	Closest []string
}

// Error names the closest names.
func (e *UnknownNameError) Error() string {
	quoted := make([]string, len(e.Closest))
	for i, name := range e.Closest {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return fmt.Sprintf("unknown %s %q; closest: %s", e.Kind, e.Name, strings.Join(quoted, ", "))
}

// NewLookup returns the lookup of a graph's entities, by id, and of its base relations, by id.
func NewLookup(entities, relations []string) *Lookup {
	return &Lookup{newIndex("entity", entities), newIndex("relation", relations)}
}

func newIndex(kind string, names []string) index {
	x := index{kind: kind, names: names, ids: make(map[string]int32, len(names))}
	for id, name := range names {
		x.ids[name] = int32(id)
	}
	return x
}

// Query returns the query (source, relation, ?) by id, or its inverse, (source, ~relation, ?). The error of a
// name that the graph does not have is an *UnknownNameError.
func (l *Lookup) Query(source, relation string, inverse bool) (tables.Query, error) {
	s, err := l.entities.id(source)
	if err != nil {
		return tables.Query{}, err
	}
	r, err := l.relations.id(relation)
	if err != nil {
		return tables.Query{}, err
	}
	if inverse {
		r += int32(len(l.relations.names))
	}
	return tables.Query{Source: s, Relation: r, Inverse: inverse}, nil
}

// Entity returns the id of an entity. The error of a name that the graph does not have is an *UnknownNameError.
func (l *Lookup) Entity(name string) (int32, error) { return l.entities.id(name) }

func (x index) id(name string) (int32, error) {
	if id, ok := x.ids[name]; ok {
		return id, nil
	}
	return 0, &UnknownNameError{x.kind, name, names.Closest(name, x.names, 3)}
}
