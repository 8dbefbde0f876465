// Package relations has what a propagation knows of relations: the embedding of a query's relation, with which it starts, and the
// tables of a row for each relation that messages are multiplied by, one a layer. Where these come from is a Source, of which a model
// has one; the propagation does not know which:
//
//	table   parameters, which are the same for all queries
//	linear  a linear map of the embedding of the query's relation
package relations
