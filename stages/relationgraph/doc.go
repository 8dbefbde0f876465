// Package relationgraph is the stage that makes the relation graph of a knowledge graph, on which package model/ultra computes the
// states of relations: it reads the shards of edges and writes a table of edges between relations. Load reads the table, once per
// process.
//
// A shard of edges has all edges that enter an entity next to each other, inverse ones included. So the relations that leave the
// entity are known where the shard is read, without a barrier: the inverses of those that enter. All of them meet. Two transforms
// collect who meets whom, and write the same bytes:
//
//   - ByMeetings: the entities of a shard are added to rows of bits, an ultra.Meetings. A CombineFn merges those of all shards, where
//     the runner can also before the one barrier. They take 4 R*R bits for R base relations, which are 50 MB for 10,000.
//   - ByPairs, for more relations: each shard becomes sorted spill files of pairs a <= b, which one worker merges. An entity with n
//     relations has n (n+1) / 2 pairs: 12.5 million for 5,000 relations. They go one by one into a buffer whose size the memory
//     budget bounds; a full buffer is sorted and written without repetitions. A filter drops most pairs that other entities had
//     before. The worker that merges holds up to 12 bytes for each pair that is left; scoring with the graph takes 72.
//
// Example with R = 2 (the inverse of relation r is r + 2) and the facts a -0-> b and b -1-> b: relation 0 leaves a; 1, 2 and 3 leave
// b. The pairs are (0, 0), and (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3).
package relationgraph
