package graph

import (
	"context"
	"fmt"
	"sort"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/tables"
	"tagnet/stages/triples"
	"tagnet/stages/vocabulary"
)

var factsEncoded = beam.NewCounter("graph", "facts_encoded")

// encodeFn turns names into ids, and facts into rows of the tables they belong to.
type encodeFn struct {
	Inductive  bool
	EdgeShards int
}

// names are the vocabularies of a graph's facts.
type names struct{ training, inference, relations *vocabulary.IDs }

// ProcessElement encodes a group of batches.
func (f *encodeFn) ProcessElement(ctx context.Context, _ int, batches func(*[]byte) bool, written func(*vocabulary.Written) bool, emit func(string, Part)) error {
	var n names
	var w vocabulary.Written
	for written(&w) {
		ids, err := vocabulary.Load(ctx, w)
		if err != nil {
			return err
		}
		switch w.File {
		case EntitiesFile:
			n.training = ids
		case InferenceEntitiesFile:
			n.inference = ids
		case RelationsFile:
			n.relations = ids
		}
	}
	var element []byte
	for batches(&element) {
		var b triples.Batch
		if err := b.Decode(element); err != nil {
			return err
		}
		if n.relations == nil {
			return fmt.Errorf("%s: no training fact is left of which the relations could be known; see what was rejected", b.URL)
		}
		if err := f.encode(b, n, emit); err != nil {
			return err
		}
		factsEncoded.Inc(ctx, int64(len(b.Lines)))
	}
	return nil
}

// encode emits the rows of a batch.
func (f *encodeFn) encode(b triples.Batch, n names, emit func(string, Part)) error {
	entities := n.training
	if b.Graph == triples.Inference {
		entities = n.inference
	}
	queries, err := ask(b, entities, n.relations)
	if err != nil {
		return err
	}
	to := placeOf(b.Graph, b.Split, f.Inductive)
	rows, err := tables.EncodeQueries(queries)
	if err != nil {
		return err
	}
	if to.queries != "" {
		emit(to.queries, Part{Split: b.Split, Rows: rows})
	}
	for _, file := range to.answers {
		emit(file, Part{Split: b.Split, Rows: rows})
	}
	if to.edges == "" {
		return nil
	}
	for shard, edges := range shardEdges(queries, len(entities.Names), f.EdgeShards) {
		if edges.Len() == 0 {
			continue
		}
		rows, err := tables.EncodeEdges(edges)
		if err != nil {
			return err
		}
		emit(shardFile(to.edges, shard, f.EdgeShards), Part{Split: b.Split, Rows: rows})
	}
	return nil
}

// ask makes the two queries of each fact, which are also its two edges: source -relation->
// answer.
func ask(b triples.Batch, entities, relations *vocabulary.IDs) ([]tables.Query, error) {
	queries := make([]tables.Query, 0, 2*len(b.Lines))
	reciprocal := int32(len(relations.Names))
	for i, line := range b.Lines {
		head, ok1 := entities.Of(b.Heads[i])
		tail, ok2 := entities.Of(b.Tails[i])
		if !ok1 || !ok2 {
			return nil, fmt.Errorf("%s:%d: an entity of the line is not in the vocabulary just written from it; has the file changed?", b.URL, line)
		}
		relation, ok := relations.Of(b.Relations[i])
		if !ok {
			return nil, unknownRelation(b, i)
		}
		queries = append(queries,
			tables.Query{Source: head, Relation: relation, Answer: tail},
			tables.Query{Source: tail, Relation: relation + reciprocal, Answer: head, Reciprocal: true})
	}
	return queries, nil
}

// unknownRelation is the error of a fact whose relation is never trained.
func unknownRelation(b triples.Batch, i int) error {
	return fmt.Errorf("%s:%d: relation %q is in no training fact, so nothing can be learned about it; add training facts with it, or leave the line out", b.URL, b.Lines[i], b.Relations[i])
}

// shardEdges parts edges by the entity that they lead to: equal ranges of ids, in order.
func shardEdges(queries []tables.Query, entities, shards int) []tables.Edges {
	parts := make([]tables.Edges, shards)
	for _, q := range queries {
		e := &parts[int64(q.Answer)*int64(shards)/int64(entities)]
		e.Tails = append(e.Tails, q.Answer)
		e.Relations = append(e.Relations, q.Relation)
		e.Heads = append(e.Heads, q.Source)
	}
	return parts
}

// byTail sorts edges as formats/tables wants them: by (tail, head, relation).
type byTail tables.Edges

func (e byTail) Len() int { return len(e.Tails) }
func (e byTail) Less(i, j int) bool {
	if e.Tails[i] != e.Tails[j] {
		return e.Tails[i] < e.Tails[j]
	}
	if e.Heads[i] != e.Heads[j] {
		return e.Heads[i] < e.Heads[j]
	}
	return e.Relations[i] < e.Relations[j]
}
func (e byTail) Swap(i, j int) {
	e.Tails[i], e.Tails[j] = e.Tails[j], e.Tails[i]
	e.Relations[i], e.Relations[j] = e.Relations[j], e.Relations[i]
	e.Heads[i], e.Heads[j] = e.Heads[j], e.Heads[i]
}

// sortEdges sorts edges and drops those that stand twice; it returns how many did.
func sortEdges(e *tables.Edges) (repeated int64) {
	sort.Sort(byTail(*e))
	kept := 0
	for i := range e.Tails {
		if i > 0 && e.Tails[i] == e.Tails[i-1] && e.Heads[i] == e.Heads[i-1] && e.Relations[i] == e.Relations[i-1] {
			continue
		}
		e.Tails[kept], e.Relations[kept], e.Heads[kept] = e.Tails[i], e.Relations[i], e.Heads[i]
		kept++
	}
	repeated = int64(len(e.Tails) - kept)
	e.Tails, e.Relations, e.Heads = e.Tails[:kept], e.Relations[:kept], e.Heads[:kept]
	return repeated
}
