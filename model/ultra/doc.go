// Package ultra computes the scores of ULTRA, a foundation model for knowledge graphs (Galkin et al., ICLR 2024): one set of
// published weights, none of which belongs to an entity or a relation, answers queries on any graph.
//
// The model has two parts. In the relation graph, relations are nodes, with an edge wherever an entity is on a side of both
// (relations.Graph). For a query of a base relation, six layers of messages between relations, which start from ones at that relation,
// give every relation a state. These states take the place of learned embeddings: six tables of messages are projected from them,
// and the state of the query's relation is the source's first state. Then six layers of messages between entities give the final
// states, which are scored. Package internal/reference says the same in float64 and plain loops, and is the specification.
//
// # What queries share
//
// The states of the relations and the tables depend on the graph and the base relation alone (Base), not on the source or the
// direction. Neither do the ground states: those of a propagation without a source. Unlike TAGNet's, an entity that nothing has
// reached has a state that differs from zero, and depends on its surroundings. But before the layer in which something from the
// source arrives it is the ground state, exactly. A Worker therefore propagates the difference to the ground states, which is zero
// there. On the chain s - a - b - c, with x for a difference and 0 for none:
//
//	layer  s  a  b  c
//	0      x  0  0  0
//	1      x  x  0  0   sent: s to a
//	2      x  x  x  0   sent: s to a, a to s, a to b
//
// In layer 2, a's update reads the difference from s, and b's from a. The sum of all messages to a is that of the ground states
// and that of the differences, and the update's linear map is linear: its output is that for the ground states, which Base has,
// plus that for the differences. Layer norm and ReLU are not linear, so both are normalized (kernel.NormalizeDifference).
//
// So nothing is approximated, and the messages that are sent are those of a window without a bound (package window): on average 3.7%
// of all on WN18RR, 58% on FB15k-237. Where three layers reach most of the graph, differences have no advantage any more, and the
// later layers update all entities. Scores of entities that are not reached at all are those of the ground states.
//
// A window with a bound, as TAGNet has, does not fit these weights: the residual connections grow with each layer, and near entities
// would end early, at another scale than far ones. A radius does: entities farther from the source keep their ground states.
//
// # Training
//
// Package optimizer trains the model as any other, with relations from a graph (package relations) and policy full: it propagates
// states rather than differences, since each query removes another fact from the graph of entities. The relation graph keeps the
// fact, as in the authors' program.
//
// # Using it
//
//	m := ultra.New(parameters, graph, relations.GraphOf(graph), kernel)
//	worker := m.Worker(ultra.Layers)                 // one for each goroutine
//	for each base relation:
//		base, err = m.Base(ctx, relation, threads, base) // all workers read it
//		for each of its queries, by source:
//			worker.Scores(ctx, base, source, relation, scores)
//
// Parameters reads weights from a checkpoint of PyTorch. Messages along an edge are multiplied by the row of its inverse: the authors'
// program sends so, and Base stores its tables in that order.
package ultra
