package kg

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tagnet/formats/workspace/manifest"
	"tagnet/model/graph"
)

// Triple is a fact by name.
type Triple struct{ Head, Relation, Tail string }

// New builds a KG from facts in memory, with the ids, queries and known answers that preprocess gives them:
// entities come from all facts and relations from the training facts, both in order of their names.
// Only training facts are edges. Repeated facts count once. It is an error if there is no training fact, if
// a relation of valid or test is in none of them, or if one begins with ~.
func New(train, valid, test []Triple) (*KG, error) {
	if len(train) == 0 {
		return nil, fmt.Errorf("building a knowledge graph: no training facts")
	}
	// Collect the names.
	entities, relations := map[string]bool{}, map[string]bool{}
	for i, facts := range [][]Triple{train, valid, test} {
		for _, f := range facts {
			entities[f.Head], entities[f.Tail] = true, true
			if strings.HasPrefix(f.Relation, "~") {
				return nil, fmt.Errorf("building a knowledge graph: relation %q begins with ~, which queries use for the inverse of a relation", f.Relation)
			}
			if i == 0 {
				relations[f.Relation] = true
			}
		}
	}
	view := &View{Entities: slices.Sorted(maps.Keys(entities))}
	k := &KG{Train: view, Inference: view, Relations: slices.Sorted(maps.Keys(relations)), queries: map[string][]graph.Query{}}
	k.Vocabulary = manifest.VocabularyHash(view.Entities, k.Relations)

	// Then number the facts, and gather known answers of all splits.
	lookup := NewLookup(view.Entities, k.Relations)
	var known []graph.Query
	for i, named := range [][]Triple{train, valid, test} {
		facts, err := factsOf(lookup, named)
		if err != nil {
			return nil, fmt.Errorf("building a knowledge graph: %s fact %w", Splits[i], err)
		}
		queries := queriesOf(facts, int32(len(k.Relations)))
		known = append(known, queries...)
		k.queries[Splits[i]] = queries
		if i == 0 {
			k.facts = facts
		}
	}
	slices.SortFunc(known, compareQueries)
	view.answers = &answers{loaded: true, known: gatherAnswers(known)}

	var err error
	view.Graph, err = graph.New(len(view.Entities), len(k.Relations), k.facts)
	return k, err
}

// factsOf returns facts by id, sorted, each once.
func factsOf(l *Lookup, named []Triple) ([]graph.Fact, error) {
	facts := make([]graph.Fact, 0, len(named))
	for i, t := range named {
		f, err := l.Fact(context.Background(), t.Head, t.Relation, t.Tail)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i+1, err)
		}
		facts = append(facts, f)
	}
	slices.SortFunc(facts, graph.Fact.Compare)
	return slices.Compact(facts), nil
}
