// Package explanation says why an answer got its score: the paths from the query's source to the answer that carried
// it, best first.
//
// Every message that a layer admits, and that is not empty, gets a factor of 1. The derivative of the answer's score by
// the factor is how much the message carries of the score, to first order. One backward pass gives the derivatives of
// all messages. A path takes one edge in each of the layers 1, 2, .. up to its length; its weight is the mean of the
// derivatives of its edges' messages in their layers. This is NBFNet's interpretation (arXiv 2106.06935, section 4.4),
// with all best paths instead of those that a beam search finds. For A*Net's policies an edge counts the priority of
// its sender instead, relative to the highest in the layer, as A*Net's authors have it (arXiv 2206.04798, section 4.4).
//
// Of all these walks a person is shown those that say something each. They are simple: no entity stands on one twice,
// source and answer included, so that there is none to an answer that is the source. And they are merged: a graph may
// have both (u, r, v) and (v, r, u), and then two edges lead from u to v, along r and against it; of paths that differ
// in such edges only, the one of the highest weight stands for all. The dynamic program then keeps at least ten simple
// paths to each entity after each layer. That is not exact: a path is missed if all those kept to one of its entities
// visit an entity that follows. One is always found, since the shortest walks are simple; with A*Net's policies, which
// choose edges in each layer, there may be none.
//
// Where relation embeddings come from makes no difference: they are constant for a query. With policy full, entities
// have states also where nothing from the source arrives, and a message carries both. Its derivative counts both, but
// paths begin at the source, so that they are not all that a score comes from.
//
// Package propagation computes the derivatives in float32 (Explainer, explain.go); a dynamic program over the layers
// finds the paths (paths.go). The derivative of a maximum or minimum is shared evenly among the messages that attain
// it, so that equal evidence has equal weight. The float64 specification is model/internal/spec.
//
// # Example
//
// Take two layers, the edges s→u, s→v, u→a, v→a, s→a, and these derivatives:
//
//	layer 1   s→u 3   s→v 1   s→a 2
//	layer 2   u→a 1   v→a 4
//
// The best path to u and to v after one layer has 3 and 1; to a after two layers they have 3 + 1 and 1 + 4. The weights
// are (1 + 4) / 2 = 2.5 for s→v→a, then 2 for s→u→a and for s→a. Of these two s→a comes first, since it is shorter.
package explanation
