// Package distances is the stage that searches a graph breadth-first: it reads sources and writes
// tables of their distances to every entity. Each worker process loads the graph
// once; several threads search the sources of an element (multisource.Sweep), each up to 512 sources at once.
// Elements hold source ids only.
//
// For the sources of the test split and 6 hops it takes on two cores of an EPYC (Zen 4), with the local runner, 0.9 s and 269 MB for FB15k-237
// (10,348 sources, 544,230 edges), and 0.9 s and 508 MB for WN18RR (5,323 sources, 173,670 edges).
package distances
