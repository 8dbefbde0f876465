package discovery

import (
	"context"

	"tagnet/model/graph"
	"tagnet/model/kg"
)

// Counts returns how many facts of some base relations are held out of the graph of a split for validation, and how many the graph has.
func Counts(ctx context.Context, loaded *kg.KG, split string, relations []int32) (held, facts int64, err error) {
	asked := make([]bool, len(loaded.Relations))
	for _, r := range relations {
		asked[r] = true
	}
	view := loaded.Of(split)
	for _, r := range view.Graph.Relations {
		if int(r) < len(asked) && asked[r] {
			facts++
		}
	}
	valid, err := validFacts(ctx, loaded, split)
	if err != nil {
		return 0, 0, err
	}
	for _, f := range valid {
		if asked[f.Relation] {
			held++
		}
	}
	return held, facts, nil
}

// validFacts returns the validation facts of the graph of a split that are not edges of it. An inference graph
// may have its own.
func validFacts(ctx context.Context, loaded *kg.KG, split string) ([]graph.Fact, error) {
	view := loaded.Of(split)
	queries, err := loaded.Queries(ctx, "valid")
	if loaded.Inductive() && view == loaded.Inference {
		test := map[graph.Query]bool{}
		tested, testErr := loaded.Queries(ctx, "test")
		if testErr != nil {
			return nil, testErr
		}
		for _, q := range tested {
			test[q] = true
		}
		queries, err = loaded.HeldOut(ctx)
		var own = queries[:0:0]
		for _, q := range queries {
			if !test[q] {
				own = append(own, q)
			}
		}
		queries = own
	}
	if err != nil {
		return nil, err
	}
	var facts []graph.Fact
	for _, q := range queries {
		if int(q.Relation) < len(loaded.Relations) && !view.Graph.Has(q.Source, q.Relation, q.Answer) {
			facts = append(facts, graph.Fact{Head: q.Source, Relation: q.Relation, Tail: q.Answer})
		}
	}
	return facts, nil
}
