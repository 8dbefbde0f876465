// Package distances is the stage that searches a graph breadth-first: it reads sources and writes
// tables of their distances to every entity. Two transforms write the same bytes.
//
// Search is for a graph that fits into the memory of a worker. Each worker process loads the graph
// once; several threads search the sources of an element (Sweep), each up to 512 sources at once.
// Elements hold source ids only.
//
// Join is for a larger graph. It is a Beam join over the shards of edges, one round per hop. Sources
// are searched in blocks of up to 512, entities are split into equal ranges, and a key is a pair of a
// block and a range. Two kinds of elements cross a barrier:
//
//   - the frontier: which sources reached which entities in the last hop, a row of 13 bytes for
//     each entity and 64 sources, merged by entity before it is sent;
//   - the state: the distances so far, 4 bits each, a row of 37 bytes for each entity and 64
//     sources of which any reaches it.
//
// A thread has one range of a block in memory, and a chunk of the range's edges (see budget.Join).
// After the last round the states are transposed to rows by source in spill files, from which
// Tables makes the tables. Example: a path 0 - 1 - 2 - 3, source 0, ranges {0, 1} and {2, 3}.
// The seed is the frontier {0} of the first range. Round 0 stores distance 0 for entity 0 and
// emits its neighbour 1 to the first range. Round 1 stores 1 for entity 1; of its neighbours, 0 is
// reached already, and 2 goes to the second range. Round 2 stores 2 for entity 2, and so on.
//
// Plan chooses the ranges, blocks and chunks by a memory budget. Beam's local runner has what
// crosses a barrier in its own process several times, so for it Plan also chooses how many blocks
// are searched in one pipeline; other runners search all at once.
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
