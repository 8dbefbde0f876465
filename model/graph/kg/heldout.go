package kg

import (
	"context"

	"tagnet/model/graph"
)

// HeldOut returns the queries of the validation and test facts of the graph that test queries are about, in the
// order of their tables: source, relation, answer. No table has the validation facts of an inference graph. They
// are its known answers that are neither edges nor test facts; so a fact that is also an edge, which a model could
// look up, is left out.
func (k *KG) HeldOut(ctx context.Context) ([]graph.Query, error) {
	test, err := k.Queries(ctx, "test")
	if err != nil {
		return nil, err
	}
	known, err := k.Inference.Answers(ctx)
	if err != nil {
		return nil, err
	}
	tested := make(map[graph.Query]bool, len(test))
	for _, q := range test {
		tested[q] = true
	}
	var queries []graph.Query
	for i, source := range known.Sources {
		relation := known.Relations[i]
		for _, answer := range known.Lists[i] {
			q := graph.Query{Source: source, Relation: relation, Answer: answer}
			if tested[q] || !k.Inference.Graph.Has(source, relation, answer) {
				queries = append(queries, q)
			}
		}
	}
	return queries, nil
}
