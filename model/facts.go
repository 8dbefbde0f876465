package model

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"tagnet/model/graph"
)

// RelationCount is a relation of an entity, and how many known facts the entity has with it.
type RelationCount struct {
	// Relation has a leading ~ where the entity is the tail of the facts, as in a Query.
	Relation string
	Facts    int
}

// RelationsOf returns the relations of an entity's known facts, in both directions, by number of facts, most first, and
// then by name. Known facts are the facts of the graph and of its validation and test splits. A fact from the entity to
// itself counts in both directions. The error of an unknown entity is an *UnknownNameError.
func (m *Model) RelationsOf(ctx context.Context, entity string) ([]RelationCount, error) {
	id, err := m.lookup.Entity(ctx, entity)
	if err != nil {
		return nil, err
	}
	first, end := m.known.Pairs(id)
	counts := make([]RelationCount, 0, end-first)
	for i := first; i < end; i++ {
		counts = append(counts, RelationCount{graph.RelationName(m.Relations(), m.known.Relations[i]), len(m.known.Lists[i])})
	}
	slices.SortFunc(counts, func(a, b RelationCount) int {
		return cmp.Or(cmp.Compare(b.Facts, a.Facts), strings.Compare(a.Relation, b.Relation))
	})
	return counts, nil
}

// RelationsLike returns relations, in both directions, that an entity has no known fact of, and entities like it have:
// entities of its types, or without types all that share one of its relations in the same direction. They are sorted by
// the number of these entities, most first, and then by name. Errors are as RelationsOf's.
func (m *Model) RelationsLike(ctx context.Context, entity string) ([]string, error) {
	id, err := m.lookup.Entity(ctx, entity)
	if err != nil {
		return nil, err
	}
	types, err := m.TypesOf(ctx, entity)
	if err != nil {
		return nil, err
	}
	// Entities of the same types.
	alike := make([]bool, len(m.opened.View.Entities)) // of its types
	for _, name := range types {
		list, err := m.opened.View.OfType(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			alike[e] = true
		}
	}
	// Relations that the entity has already.
	hasRelation := make([]bool, 2*len(m.opened.KG.Relations))
	first, end := m.known.Pairs(id)
	for _, r := range m.known.Relations[first:end] {
		hasRelation[r] = true
	}
	// Count, by relation, the entities like it that have a fact.
	counts, names := make([]int, len(hasRelation)), []string{}
	for from, to := 0, 0; from < m.known.Len(); from = to {
		source := m.known.Sources[from]
		for to < m.known.Len() && m.known.Sources[to] == source {
			to++
		}
		relations := m.known.Relations[from:to]
		if alike[source] || len(types) == 0 && slices.ContainsFunc(relations, func(r int32) bool { return hasRelation[r] }) {
			for _, r := range relations {
				counts[r]++
			}
		}
	}
	count := map[string]int{}
	for r, n := range counts {
		if n > 0 && !hasRelation[r] {
			name := graph.RelationName(m.Relations(), int32(r))
			names, count[name] = append(names, name), n
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b)) })
	return names, nil
}

// Known returns the known answers of a query, from the facts of the graph and of its validation and test splits,
// in the order of their names: at most limit of them, without the first offset ones. all is how many there are.
// Errors are as Ask's.
func (m *Model) Known(ctx context.Context, query Query, offset, limit int) (entities []string, all int, err error) {
	ids, err := m.ids(ctx, query)
	if err != nil {
		return nil, 0, err
	}
	list := m.known.Of(ids.Source, ids.Relation)
	offset = min(offset, len(list))
	for _, id := range list[offset:min(offset+limit, len(list))] {
		entities = append(entities, m.opened.View.Entities[id])
	}
	return entities, len(list), nil
}

// TypesOf returns the names of the types of an entity, none if the dataset gives it none. Errors are as RelationsOf's.
func (m *Model) TypesOf(ctx context.Context, entity string) ([]string, error) {
	id, err := m.lookup.Entity(ctx, entity)
	if err != nil {
		return nil, err
	}
	return m.opened.View.TypesOf(ctx, id)
}
