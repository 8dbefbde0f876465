// Package incidence computes what a model knows of an entity o without a source: a state that the relations of its facts decide,
//
//	relu(layer_norm(W sum over r of T_r + b))
//
// for the distinct relations r, inverse ones included, that leave o in the graph of the query. The rows T_r come from the source of
// relations (package relations), so that the state depends on the base relation of a query, and on nothing else of it. The score of o
// is that of its final state, the query's embedding, and this state; so entities that a source does not reach do not tie.
//
// In ULTRA, ground states are something else: those of a whole propagation without a source (package propagation).
package incidence
