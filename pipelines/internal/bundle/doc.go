// Package bundle is the command that finds the part of the graph which each query of a split propagates through, and
// writes it with the query, for train and score --bundles. Neither it nor its workers load the graph.
package bundle
