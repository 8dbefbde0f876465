package kg

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"tagnet/formats/names"
	"tagnet/formats/tables"
)

// ErrNoTypes is the error of a graph whose dataset gives no types.
var ErrNoTypes = errors.New("the graph has no entity types; preprocess reads them with --types or --type_relation")

// types is a table of types that is read once. A failed read is tried again by the next caller.
type types struct {
	url    string // empty without types
	mu     sync.Mutex
	loaded bool
	table  []tables.Type
}

func (t *types) read(ctx context.Context, entities int) ([]tables.Type, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.loaded || t.url == "" {
		return t.table, nil
	}
	table, err := tables.ReadTypes(ctx, t.url)
	if err != nil {
		return nil, err
	}
	for _, of := range table {
		if last := of.Entities[len(of.Entities)-1]; int(last) >= entities {
			return nil, errors.New(t.url + ": type " + of.Name + " has an entity that is not in the graph")
		}
	}
	t.table, t.loaded = table, true
	return table, nil
}

// Types returns the names of the types that entities of the graph have, in their order; none if the dataset
// gives none. They are read on first use.
func (v *View) Types(ctx context.Context) ([]string, error) {
	table, err := v.types.read(ctx, len(v.Entities))
	if err != nil {
		return nil, err
	}
	list := make([]string, len(table))
	for i, t := range table {
		list[i] = t.Name
	}
	return list, nil
}

// OfType returns the entities of a type in ascending order. The caller must not change them. The error of a
// type that the graph does not have is an *UnknownNameError, or ErrNoTypes if it has none at all.
func (v *View) OfType(ctx context.Context, name string) ([]int32, error) {
	table, err := v.types.read(ctx, len(v.Entities))
	if err != nil {
		return nil, err
	}
	if len(table) == 0 {
		return nil, ErrNoTypes
	}
	i, found := slices.BinarySearchFunc(table, name, func(t tables.Type, name string) int { return strings.Compare(t.Name, name) })
	if found {
		return table[i].Entities, nil
	}
	known := make([]string, len(table))
	for i, t := range table {
		known[i] = t.Name
	}
	return nil, &UnknownNameError{"type", name, names.Closest(name, known, 3)}
}
