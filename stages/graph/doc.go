// Package graph is the stage that turns facts into the tables of a knowledge graph, and the
// one place that knows the files of the graph/ folder.
//
// Write makes them: every fact becomes two edges (its own and the reciprocal), two queries and
// two known answers, all by id. Load reads them, once per process, for every DoFn and pipeline
// that needs the graph; it never travels as an element or a side input.
package graph
