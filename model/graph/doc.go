// Package graph is the knowledge graph as the model sees it: compressed sparse adjacency
// over dense ids, with every fact beside its reciprocal. It is built once per process and
// shared, read-only, by searches and propagations.
package graph
