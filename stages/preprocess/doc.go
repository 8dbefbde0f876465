// Package preprocess is the stage that turns facts into the tables of a knowledge graph: the graph/ folder of a
// workspace, whose files model/graph/kg names and reads.
//
// Every fact becomes two edges (its own and the inverse), two queries and two known answers, all by id. Load
// reads the folder once per process, for every DoFn and pipeline that needs the graph; the graph never travels
// as an element or a side input.
package preprocess
