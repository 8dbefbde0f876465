// Package ultra reads the published weights of ULTRA, a foundation model for knowledge graphs (Galkin et al., ICLR 2024): one set of
// weights, none of which belongs to an entity or a relation, answers queries on any graph.
//
// They are weights of a configuration: relations from their graph (package relations), policy full, sums of DistMult
// messages, six layers of 64 dimensions in either part. In the relation graph, relations are nodes, with an edge wherever an entity
// is on a side of both. For a query of a base relation, six layers of messages between relations, which start from ones at that
// relation, give every relation a state. These states take the place of learned embeddings: six tables of messages are projected
// from them, and the state of the query's relation is the source's first state. Then six layers of messages between entities give
// the final states, which are scored.
//
// Queries of both directions of a relation share the relations' states.
//
// A window with a bound, as TAGNet has, does not fit these weights: the residual connections grow with each layer, and near entities
// would end early, at another scale than far ones.
//
// In training (package optimizer) each query removes its fact from the graph of entities. The relation graph keeps the fact, as in the
// authors' program.
//
// Messages along an edge are multiplied by the row of its inverse: the authors' program sends so, and package relations orders its
// tables for it.
package ultra
