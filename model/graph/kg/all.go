package kg

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tagnet/model/graph"
)

// AllFacts returns a view of the graph that test queries are about, Inference, whose own graph has all known facts as
// edges: of training, background, validation and test. Names and ids are shared. It is made from the known answers on
// first use and kept.
//
// Memory: 8 bytes an entity and 8 an edge, 5 MB for FB15k-237, beside the known answers, which take 8 MB and
// stay in memory, too.
func (k *KG) AllFacts(ctx context.Context) (*View, error) {
	k.allMu.Lock()
	defer k.allMu.Unlock()
	if k.all != nil {
		return k.all, nil
	}
	all, err := k.Inference.allFacts(ctx)
	if err != nil {
		return nil, err
	}
	k.all = all
	return all, nil
}

// allFacts returns a view whose graph has the facts of all splits, made of the known answers.
func (v *View) allFacts(ctx context.Context) (*View, error) {
	if v.Graph.IsOutline() {
		return nil, fmt.Errorf("a graph of all facts can be made only of one whose edges are read")
	}
	known, err := v.Answers(ctx)
	if err != nil {
		return nil, err
	}
	count := 0
	for _, list := range known.Lists {
		count += len(list)
	}
	// The answers of (entity, relation, ?) send to entity over the inverse relation. They are added in the
	// order of the graph.
	b := graph.NewBuilder(v.Graph.Entities, v.Graph.BaseRelations, int64(count))
	b.LeaveOut(v.leftOut)
	type edge struct{ sender, relation int32 }
	var edges []edge // that enter an entity
	for from, to := 0, 0; from < known.Len(); from = to {
		entity := known.Sources[from]
		edges = edges[:0]
		for to = from; to < known.Len() && known.Sources[to] == entity; to++ {
			inverse := v.Graph.Inverse(known.Relations[to])
			for _, answer := range known.Lists[to] {
				edges = append(edges, edge{answer, inverse})
			}
		}
		slices.SortFunc(edges, func(a, b edge) int {
			return cmp.Or(cmp.Compare(a.sender, b.sender), cmp.Compare(a.relation, b.relation))
		})
		for _, e := range edges {
			if err := b.Add(e.sender, e.relation, entity); err != nil {
				return nil, fmt.Errorf("making a graph of the known answers: %w", err)
			}
		}
	}
	out := v.sharing()
	out.answers = v.answers
	out.Graph, err = b.Graph()
	return out, err
}

// sharing returns a view with the names and types of another one, without a graph and known answers.
func (v *View) sharing() *View {
	out := &View{Entities: v.Entities, named: v.named, leftOut: v.leftOut}
	out.types.version, out.types.url = v.types.version, v.types.url
	return out
}
