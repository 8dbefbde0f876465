package kg

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"

	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph"
)

// Without returns the graph without the facts of some of its base relations, and without these relations: as if
// no file of the dataset had such a fact, except that all entities stay, with their ids, as candidates of every
// query. The relations that are left have other ids, in the same order. The checksum of its manifest and its
// vocabulary are its own.
func (k *KG) Without(ctx context.Context, relations []string) (*KG, error) {
	if len(relations) == 0 {
		return k, nil
	}
	out := &KG{Manifest: k.Manifest, Unknown: relations, version: k.version, queries: map[string][]graph.Query{}}
	// Base relations, then their inverses; -1 for what goes.
	ids := make(renumbering, 2*len(k.Relations))
	for id, name := range k.Relations {
		if ids[id] = -1; !slices.Contains(relations, name) {
			ids[id] = int32(len(out.Relations))
			out.Relations = append(out.Relations, name)
		}
	}
	for id, inverse := range ids[:len(k.Relations)] {
		if inverse >= 0 {
			inverse += int32(len(out.Relations))
		}
		ids[id+len(k.Relations)] = inverse
	}
	out.ids = ids
	out.Vocabulary = manifest.VocabularyHash(k.Train.Entities, out.Relations)
	// A checksum of its own, so that no file made for the whole graph fits.
	left := strings.Join(append([]string{k.Manifest.Checksum}, relations...), "\n")
	out.Manifest.Checksum = fmt.Sprintf("%x", sha256.Sum256([]byte(left)))

	var err error
	if out.Train, err = k.Train.without(ctx, ids, len(out.Relations)); err != nil {
		return nil, err
	}
	out.Inference = out.Train
	if k.Inductive() {
		if out.Inference, err = k.Inference.without(ctx, ids, len(out.Relations)); err != nil {
			return nil, err
		}
	}
	// Tables that are read already are renumbered now, all others when they are read.
	k.mu.Lock()
	defer k.mu.Unlock()
	out.facts = renumber(ids, k.facts, relationOfFact)
	for split, queries := range k.queries {
		out.queries[split] = renumber(ids, queries, relationOfQuery)
	}
	return out, nil
}

// without returns the view of a graph with renumbered relations, of which a number is left.
func (v *View) without(ctx context.Context, ids renumbering, relations int) (*View, error) {
	if v.Graph.IsOutline() {
		return nil, fmt.Errorf("facts of some relations can be left out only of a graph whose edges are read")
	}
	known, err := v.Answers(ctx)
	if err != nil {
		return nil, err
	}
	out := v.sharing()
	out.answers = v.answers.without(ids, out)
	// Count first, so that the builder allocates once.
	edges := int64(0)
	for _, relation := range v.Graph.Relations {
		if ids[relation] >= 0 {
			edges++
		}
	}
	b := graph.NewBuilder(v.Graph.Entities, relations, edges)
	// Entities that lose their last fact leave the mean of degrees.
	out.leftOut += sources(known) - sources(out.answers.known)
	b.LeaveOut(out.leftOut)
	for entity := range int32(v.Graph.Entities) {
		senders, edgeRelations := v.Graph.In(entity)
		for i, sender := range senders {
			relation := ids[edgeRelations[i]]
			if relation < 0 {
				continue
			}
			if err := b.Add(sender, relation, entity); err != nil {
				return nil, err
			}
		}
	}
	out.Graph, err = b.Graph()
	return out, err
}

// sources returns the number of entities that have facts, of any split.
func sources(known tables.Answers) int { return len(slices.Compact(slices.Clone(known.Sources))) }

// without returns the known answers over renumbered relations, of another view.
func (a *answers) without(ids renumbering, view *View) *answers {
	a.mu.Lock()
	defer a.mu.Unlock()
	return &answers{version: a.version, url: a.url, view: view, ids: ids, loaded: a.loaded, known: ids.answers(a.known)}
}

// renumbering has the new ids of relations and their inverses, by the earlier ones; -1 for relations that are left out.
// nil changes no id.
type renumbering []int32

// of returns the new id of a relation. An id out of range stays out of range, for the check that follows.
func (ids renumbering) of(relation int32) int32 {
	switch {
	case ids == nil:
		return relation
	case int(relation) >= len(ids):
		return math.MaxInt32
	}
	return ids[relation]
}

// renumber returns the rows whose relations are left, in their order. relation points to a row's relation.
func renumber[T any](ids renumbering, all []T, relation func(*T) *int32) []T {
	if ids == nil {
		return all
	}
	var left []T
	for _, row := range all {
		left = append(left, row)
		r := relation(&left[len(left)-1])
		if *r = ids.of(*r); *r < 0 {
			left = left[:len(left)-1]
		}
	}
	return left
}

func relationOfFact(f *graph.Fact) *int32 { return &f.Relation }

func relationOfQuery(q *graph.Query) *int32 { return &q.Relation }

// answers returns the known answers that are left, in their order.
func (ids renumbering) answers(all tables.Answers) (left tables.Answers) {
	if ids == nil {
		return all
	}
	for i, relation := range all.Relations {
		if relation = ids.of(relation); relation >= 0 {
			left.Sources, left.Relations, left.Lists = append(left.Sources, all.Sources[i]), append(left.Relations, relation), append(left.Lists, all.Lists[i])
		}
	}
	return left
}
