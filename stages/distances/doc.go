// Package distances is the stage that searches: sources in, tables of their distances to every
// entity out. There are two ways to the same bytes.
//
// Search is for a graph that a worker holds. An element carries source ids only. Workers load
// the graph once per process; one element is searched by several threads of its worker, up to 512
// sources at once in each. A worker takes WorkerNeed.
//
// Join is for a graph that no worker holds: rounds of a Beam join over the shards of its edges,
// one for each hop. Sources are searched in blocks of up to 512, entities are cut into equal
// ranges, and a pair of a block and a range is a key. What crosses a barrier is
//
//   - what a hop reached: a row of 13 bytes for each entity and 64 sources that are not none,
//     merged by entity before it is sent, and only from entities that were new in that hop;
//   - the state: a row of 37 bytes for each entity and 64 sources of which any reaches it, 4
//     bits a distance.
//
// A worker's thread has one range of a block in memory, and of the range's edges a run of
// record batches (see threadMemory). Join leaves rows in files, of which Tables makes tables.
// Plan chooses ranges, blocks and runs by a budget. Beam's local runner has what crosses a
// barrier in the process several times, so for it Plan also chooses how many blocks are searched
// in one go; other runners have it elsewhere, and search all at once.
//
// What both take, for the sources of the test split and 6 hops, on two cores of an EPYC (Zen 4)
// with the local runner; memory is the process's peak:
//
//	                                         worker           join            join, --memory 300
//	FB15k-237, 10,348 sources, 544,230 edges 0.9 s, 269 MB   11.2 s, 1,021 MB  18.5 s, 256 MB
//	WN18RR, 5,323 sources, 173,670 edges     0.9 s, 508 MB    7.9 s,   858 MB  11.8 s, 261 MB
//
// FB15k-237 in one go (--memory 4096) takes 8.3 s and 2,241 MB, so one of its 7 rounds over all
// sources takes 1.2 s, most of it in the local runner. On Flink 1.19, inside of its job server and
// in the loopback environment, beside other work, the test split's sources: WN18RR 21 s, FB15k-237 41 s, and 422 and 386 MB
// of the worker's process, which does not have what crosses a barrier.
package distances
