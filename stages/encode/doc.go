// Package encode is the stage that turns facts into the tables of a knowledge graph: the graph/ folder of a
// workspace, whose files model/graph/kg names and reads.
//
// Vocabulary gives names dense ids: the position of each among all names of its kind in byte order, so that ids depend
// on nothing but the names. Workers load the ids (package model/graph/kg) once per process, without the names. Write
// then turns each chunk of facts into rows.
//
// Every fact becomes two edges (its own and the inverse), two queries and two known answers, all by id. Load
// reads the folder once per process, for every DoFn and pipeline that needs the graph; the graph never travels
// as an element or a side input.
package encode
