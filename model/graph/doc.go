// Package graph is the knowledge graph in compressed sparse form (CSR) over dense ids, with an inverse edge for every
// fact. It is built once per process and shared, read-only, by searches and propagations.
package graph
