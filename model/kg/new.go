package kg

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tagnet/formats/manifest"
	"tagnet/formats/tables"
	"tagnet/model/graph"
)

// Triple is a fact by name.
type Triple struct{ Head, Relation, Tail string }

// New builds a KG from facts in memory, with the ids, queries and known answers that preprocess gives them:
// entities are those of all facts and relations those of the training facts, both in order of their names.
// Only training facts are edges. Repeated facts count once. It is an error if there is no training fact, if
// a relation of valid or test is in none of them, or if one begins with ~.
func New(train, valid, test []Triple) (*KG, error) {
	if len(train) == 0 {
		return nil, fmt.Errorf("building a knowledge graph: no training facts")
	}
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
	k := &KG{Train: view, Inference: view, Relations: slices.Sorted(maps.Keys(relations)), queries: map[string][]tables.Query{}}
	k.Vocabulary = manifest.VocabularyHash(view.Entities, k.Relations)

	lookup := NewLookup(view.Entities, k.Relations)
	var known []tables.Query
	for i, facts := range [][]Triple{train, valid, test} {
		queries, err := factQueries(lookup, facts)
		if err != nil {
			return nil, fmt.Errorf("building a knowledge graph: %s fact %w", Splits[i], err)
		}
		known = append(known, queries...)
		k.queries[Splits[i]] = queries
		if i == 0 {
			k.trainAnswers = &answers{loaded: true, known: gatherAnswers(queries)}
		}
	}
	slices.SortFunc(known, compareQueries)
	view.answers = &answers{loaded: true, known: gatherAnswers(known)}

	var err error
	view.Graph, err = graph.New(len(view.Entities), len(k.Relations), Facts(k.queries["train"]))
	return k, err
}

// Facts returns the facts by id that queries come from, in the order of those that ask for tails.
func Facts(queries []tables.Query) []graph.Fact {
	var facts []graph.Fact
	for _, q := range queries {
		if !q.Inverse {
			facts = append(facts, graph.Fact{Head: q.Source, Relation: q.Relation, Tail: q.Answer})
		}
	}
	return facts
}

// factQueries returns the two queries of each fact, sorted, each once.
func factQueries(l *Lookup, facts []Triple) ([]tables.Query, error) {
	queries := make([]tables.Query, 0, 2*len(facts))
	for i, f := range facts {
		tail, err := l.Query(context.Background(), f.Head, f.Relation, false)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i+1, err)
		}
		head, err := l.Query(context.Background(), f.Tail, f.Relation, true)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i+1, err)
		}
		tail.Answer, head.Answer = head.Source, tail.Source
		queries = append(queries, tail, head)
	}
	slices.SortFunc(queries, compareQueries)
	return slices.Compact(queries), nil
}

// compareQueries orders queries as their tables do.
func compareQueries(a, b tables.Query) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Answer, b.Answer))
}

// AnswersOf returns the answers that some facts give to the queries of both directions.
func AnswersOf(facts []graph.Fact, baseRelations int32) tables.Answers {
	queries := make([]tables.Query, 0, 2*len(facts))
	for _, f := range facts {
		queries = append(queries,
			tables.Query{Source: f.Head, Relation: f.Relation, Answer: f.Tail},
			tables.Query{Source: f.Tail, Relation: f.Relation + baseRelations, Answer: f.Head})
	}
	slices.SortFunc(queries, compareQueries)
	return gatherAnswers(queries)
}

// gatherAnswers collects the known answers of sorted queries.
func gatherAnswers(queries []tables.Query) tables.Answers {
	var a tables.Answers
	for i, q := range queries {
		switch {
		case i == 0 || queries[i-1].Source != q.Source || queries[i-1].Relation != q.Relation:
			a.Sources, a.Relations, a.Lists = append(a.Sources, q.Source), append(a.Relations, q.Relation), append(a.Lists, []int32{q.Answer})
		case queries[i-1].Answer != q.Answer:
			last := &a.Lists[len(a.Lists)-1]
			*last = append(*last, q.Answer)
		}
	}
	return a
}
