// Package study counts, exactly and without propagating, the messages that a propagation sends:
// in total, and by layer the ones that the window keeps, that it keeps although they are empty, and
// that it prunes. The 2T+1 numbers of edges between and inside the levels of distance from a source give
// its counts for every number of layers and every delta.
//
// # Training queries
//
// A training query removes the edges between its source and its answer, which changes the levels. A
// Corrector derives them from the whole graph's, without another search. An entity moves away
// only if all its shortest paths go through the answer, that is if the answer is the neighbor of the
// source that dominates it. An example, with the facts a-b, a-c, b-c, b-d, b-e, c-f, f-g (relations left
// out), the source a and three hops:
//
//	distance  entities  dominated by
//	1         b, c      b: b        c: c
//	2         d, e, f   d, e: b     f: c
//	3         g         g: c
//
//	edges 14  between levels 0-1: 2, 1-2: 3, 2-3: 1  inside level 1: 2 (b-c and its inverse)
//
// The training query with answer c removes the edge a-c and its inverse. Of the entities dominated
// by c, which are c, f and g, each leaves its level with all its edges:
//
//	edges 12  between levels 0-1: 1, 1-2: 2  inside: none
//
// Then they get their new distances, one level after the other: c is next to b, which stays, so its
// distance is 2; f follows at 3, and g at 4, beyond the hops. Their edges b-c and c-f are added:
//
//	edges 12  between levels 0-1: 1, 1-2: 3, 2-3: 1
//
// Every entity is dominated by at most one neighbor of the source, so all training queries of a
// source together visit each edge at most a few times.
//
// # Many sources at once
//
// A Searcher searches from up to 512 sources at once, with a bit for each (MS-BFS: Then and
// others, VLDB 2014), so that all of them share one pass over the graph. It packs the distances into 4
// bits per entity, and counts the edges between and inside the levels of every source, from which
// the counts above are derived. graph.Searcher is the same search from one source, in a graph with edges removed.
package study
