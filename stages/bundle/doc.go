// Package bundle is the stage that finds the parts of a graph that no worker holds, and writes them into files with
// their queries, as package model/engine/parts reads them.
//
// A search of a query's part (parts.Partial) is the element that goes from one round to the next, with the lists of
// edges that have arrived for it. A round groups what all searches want by block, the edges that enter a range of
// entities, which is one file of edges; a worker reads that file once, answers, and the answers are joined with the
// searches, which continue. A search of T hops takes at most T + 1 rounds. Its part is then put together of pieces:
// each block has the edges that enter its entities, and the block of the source the known answers of the queries.
//
// A worker holds one block and one search for each thread, and when it writes a file the parts of that. What a file has
// depends neither on the number of files of edges nor on how many files one pipeline makes.
package bundle
