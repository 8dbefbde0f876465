// Package study has the pipelines that need no model: Distances writes the hops from each source of a split's queries
// to every entity, and the distribution of the distances to the answers; Messages counts the messages of a split's
// queries for lists of layers and deltas, and with a model of A*Net the messages that it chooses.
package study
