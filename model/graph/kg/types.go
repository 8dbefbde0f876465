package kg

import (
	"context"
	"errors"
	"slices"
	"sync"

	"tagnet/formats/remedy"
	"tagnet/formats/workspace/tables"
)

// ErrNoTypes is the error of a graph whose dataset gives no types.
var ErrNoTypes = remedy.Errorf(remedy.Do("preprocess reads them with %v or %v", remedy.Flag("types"), remedy.Flag("type_relation")),
	"the graph has no entity types")

// types is a table of types that is read once. A failed read is tried again by the next caller.
type types struct {
	version
	url    string // empty without types
	mu     sync.Mutex
	loaded bool
	names  index
	table  []tables.Type // by the index of their names
}

// read returns the types, which it reads once; none if the graph has none.
func (t *types) read(ctx context.Context, entities int) (index, []tables.Type, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.loaded || t.url == "" {
		return t.names, t.table, nil
	}
	table, err := tables.ReadTypes(ctx, t.url)
	if err = t.confirm(ctx, err); err != nil {
		return index{}, nil, err
	}
	names := index{kind: "type", names: make([]string, len(table))}
	for i, typed := range table {
		if last := typed.Entities[len(typed.Entities)-1]; int(last) >= entities {
			return index{}, nil, errors.New(t.url + ": type " + typed.Name + " has an entity that is not in the graph")
		}
		names.names[i] = typed.Name
	}
	t.names, t.table, t.loaded = names, table, true
	return names, table, nil
}

// Types returns the names of the types that entities of the graph have, in their order; none if the dataset
// gives none. They are read on first use.
func (v *View) Types(ctx context.Context) ([]string, error) {
	known, _, err := v.types.read(ctx, len(v.Entities))
	if err != nil {
		return nil, err
	}
	return append([]string{}, known.names...), nil
}

// OfType returns the entities of a type in ascending order. The caller must not change them. The error of a
// type that the graph does not have is as Query's, or ErrNoTypes if it has none at all.
func (v *View) OfType(ctx context.Context, name string) ([]int32, error) {
	known, table, err := v.types.read(ctx, len(v.Entities))
	if err != nil {
		return nil, err
	}
	if len(table) == 0 {
		return nil, ErrNoTypes
	}
	id, err := known.id(ctx, name)
	if err != nil {
		return nil, err
	}
	return table[id].Entities, nil
}

// TypesOf returns the names of the types of an entity in their order, none if the dataset gives it none.
func (v *View) TypesOf(ctx context.Context, entity int32) (names []string, err error) {
	_, table, err := v.types.read(ctx, len(v.Entities))
	for _, typed := range table {
		if _, found := slices.BinarySearch(typed.Entities, entity); found {
			names = append(names, typed.Name)
		}
	}
	return names, err
}
