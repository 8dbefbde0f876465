// Package relations has what a propagation knows of relations: the embedding of a query's relation, with which it starts, and the
// tables of a row for each relation that messages are multiplied by, one a layer. Where these come from is a Source, of which a model
// has one; the propagation does not know which:
//
//	table   parameters, which are the same for all queries
//	linear  a linear map of the embedding of the query's relation
//	graph   states of a propagation between the relations, along the edges of their graph
//
// In a Graph the relations themselves are nodes, with an edge wherever an entity is on a side of both. It is made
// from a graph in memory (GraphOf), or collected as Meetings or Pairs by a pipeline.
package relations
