// Package distances is the stage that searches a graph breadth-first: it reads sources and writes
// tables of their distances to every entity. Two transforms write the same bytes.
//
// Search is for a graph that fits into the memory of a worker. Each worker process loads the graph
// once; several threads search the sources of an element (multisource.Sweep), each up to 512 sources at once.
// Elements hold source ids only.
//
// Join is for a larger graph. It is a Beam join over the shards of edges, one round per hop, whose arithmetic is package model/joinsearch.
// After the last round it writes rows by source to spill files, from which
// Tables makes the tables.
//
// Time and peak memory of the process, for the sources of the test split and 6 hops, on two cores of
// an EPYC (Zen 4) with the local runner:
//
//	                                         worker           join            join, --memory 300
//	FB15k-237, 10,348 sources, 544,230 edges 0.9 s, 269 MB   11.2 s, 1,021 MB  18.5 s, 256 MB
//	WN18RR, 5,323 sources, 173,670 edges     0.9 s, 508 MB    7.9 s,   858 MB  11.8 s, 261 MB
//
// FB15k-237 in one pipeline (--memory 4096) takes 8.3 s and 2,241 MB: 1.2 s for each of 7 rounds,
// most of it in the local runner. On Flink 1.19 (loopback workers, a busy machine) the join takes
// 21 s for WN18RR and 41 s for FB15k-237, and 422 and 386 MB in the worker's process, which does
// not hold what crosses a barrier.
package distances
