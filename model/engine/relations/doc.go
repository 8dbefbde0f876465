// Package relations gives a propagation the embedding of a query's relation, with which it starts, and a table for each
// layer, whose rows, one a relation, multiply the messages. Both come from the model's Source, one of three:
//
//	table   parameters, which are the same for all queries
//	linear  a linear map of the embedding of the query's relation
//	graph   states of a propagation between the relations, along the edges of their graph
//
// In a Graph the relations themselves are nodes, with an edge wherever an entity is on a side of both. GraphOf
// collects it from a graph in memory, a block of relations at a time.
package relations
