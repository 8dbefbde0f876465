package kg

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph"
)

// ReadQueries reads a table of queries, which may have no answers. It checks no ids.
func ReadQueries(ctx context.Context, url string) ([]graph.Query, error) {
	return readRows(ctx, url, tables.EachQuery, queryOf)
}

func queryOf(source, relation, answer int32) graph.Query {
	return graph.Query{Source: source, Relation: relation, Answer: answer}
}

// factOf returns the fact of a row of the training facts, each of which is the query for its tail.
func factOf(head, relation, tail int32) graph.Fact {
	return graph.Fact{Head: head, Relation: relation, Tail: tail}
}

// eachRow reads a table's rows: tables.EachQuery, or EachAnswered, which refuses a row without an answer.
type eachRow func(ctx context.Context, url string, each func(source, relation, answer int32) error) error

// readRows reads a table of queries, and makes something of each row.
func readRows[T any](ctx context.Context, url string, every eachRow, made func(source, relation, answer int32) T) ([]T, error) {
	count, err := tables.CountQueries(ctx, url)
	if err != nil {
		return nil, err
	}
	rows := make([]T, 0, count)
	err = every(ctx, url, func(source, relation, answer int32) error {
		rows = append(rows, made(source, relation, answer))
		return nil
	})
	return rows, err
}

// WriteQueries writes a table of queries.
func WriteQueries(ctx context.Context, url string, queries []graph.Query) error {
	w, err := tables.CreateQueries(ctx, url)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, q := range queries {
		if err := w.Write(q.Source, q.Relation, q.Answer); err != nil {
			return err
		}
	}
	return w.Commit()
}

// CountQueries returns the number of queries of a split of a graph/ folder, both of each fact. It reads the frame of
// their table only.
func CountQueries(ctx context.Context, folder, split string) (int64, error) {
	rows, err := tables.CountQueries(ctx, storage.Join(folder, QueriesFile(split)))
	if split == "train" {
		rows *= 2
	}
	return rows, err
}

// SourcesOf returns the distinct sources of the queries of a split of a graph/ folder, ascending.
func SourcesOf(ctx context.Context, folder, split string) ([]int32, error) {
	var sources []int32
	err := tables.EachAnswered(ctx, storage.Join(folder, QueriesFile(split)), func(source, _, answer int32) error {
		sources = append(sources, source)
		if split == "train" { // whose table lacks the inverse queries
			sources = append(sources, answer)
		}
		return nil
	})
	slices.Sort(sources)
	return slices.Compact(sources), err
}

// Facts returns the training facts in the order of their table, by head, relation and tail, an order that
// decides the batches of a training. They are read on first use. It is an error if a fact has an id that is not
// in the training graph.
func (k *KG) Facts(ctx context.Context) ([]graph.Fact, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lockedFacts(ctx)
}

// lockedFacts returns the training facts, which it reads once. The caller holds the mutex.
func (k *KG) lockedFacts(ctx context.Context) ([]graph.Fact, error) {
	if k.facts != nil {
		return k.facts, nil
	}
	url := storage.Join(k.folder, QueriesFile("train"))
	facts, err := readRows(ctx, url, tables.EachAnswered, factOf)
	if err = k.confirm(ctx, err); err != nil {
		return nil, err
	}
	facts = renumber(k.ids, facts, relationOfFact)
	g := k.Train.Graph
	for i, f := range facts {
		if int(max(f.Head, f.Tail)) >= g.Entities || int(f.Relation) >= g.BaseRelations {
			return nil, fmt.Errorf("%s: fact %d (%d, %d, %d) has an id that is not in the graph", url, i, f.Head, f.Relation, f.Tail)
		}
	}
	k.facts = facts
	return facts, nil
}

// Queries returns the queries of a split, both of each fact, by source, relation and answer. They are read on first
// use. It is an error if a query has an id that is not in the split's graph.
func (k *KG) Queries(ctx context.Context, split string) ([]graph.Query, error) {
	if !slices.Contains(Splits, split) {
		return nil, fmt.Errorf("split %q is none of %s", split, strings.Join(Splits, ", "))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if queries, ok := k.queries[split]; ok {
		return queries, nil
	}
	queries, err := k.readSplit(ctx, split)
	if err != nil {
		return nil, err
	}
	k.queries[split] = queries
	return queries, nil
}

// readSplit reads the queries of a split. The training split has both directions of its facts. The
// caller holds the mutex.
func (k *KG) readSplit(ctx context.Context, split string) ([]graph.Query, error) {
	if split == "train" {
		facts, err := k.lockedFacts(ctx)
		return queriesOf(facts, int32(len(k.Relations))), err
	}
	url := storage.Join(k.folder, QueriesFile(split))
	queries, err := readRows(ctx, url, tables.EachAnswered, queryOf)
	if err = k.confirm(ctx, err); err != nil {
		return nil, err
	}
	queries = renumber(k.ids, queries, relationOfQuery)
	g := k.View(split).Graph
	for i, q := range queries {
		if int(max(q.Source, q.Answer)) >= g.Entities || int(q.Relation) >= g.RelationCount() {
			return nil, fmt.Errorf("%s: query %d (%d, %d, %d) has an id that is not in the graph", url, i, q.Source, q.Relation, q.Answer)
		}
	}
	return queries, nil
}

// queriesOf returns the two queries of each fact, sorted.
func queriesOf(facts []graph.Fact, baseRelations int32) []graph.Query {
	queries := make([]graph.Query, 0, 2*len(facts))
	for _, f := range facts {
		tail, head := f.Queries(baseRelations)
		queries = append(queries, tail, head)
	}
	slices.SortFunc(queries, compareQueries)
	return queries
}

// compareQueries orders queries as their tables do.
func compareQueries(a, b graph.Query) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Answer, b.Answer))
}

// OfSource returns the queries that share a source, a view of queries, which are sorted by source.
func OfSource(queries []graph.Query, source int32) []graph.Query {
	from := sort.Search(len(queries), func(i int) bool { return queries[i].Source >= source })
	to := from
	for to < len(queries) && queries[to].Source == source {
		to++
	}
	return queries[from:to]
}

// gatherAnswers collects the known answers of sorted queries.
func gatherAnswers(queries []graph.Query) tables.Answers {
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
