// Package relations is the stage that makes the relation graph of a knowledge graph, on which package model/engine/relations computes the
// states of relations: it reads the shards of edges and writes a table of edges between relations. Load reads the table, once per
// process.
//
// A shard of edges has all edges that enter an entity next to each other, inverse ones included. So the relations that leave the
// entity are known where the shard is read, without a barrier: the inverses of the ones that enter. All of them meet.
// Each shard becomes sorted spill files of pairs a <= b, which one worker merges. An entity with n
// relations has n (n+1) / 2 pairs: 12.5 million for 5,000 relations. They go one by one into a buffer whose size the memory
// budget bounds; a full buffer is sorted and written without repetitions. A filter drops most pairs that other entities had
// before. The worker that merges holds up to 12 bytes for each pair that is left; scoring with the graph takes 72.
//
// Example with R = 2 (the inverse of relation r is r + 2) and the facts a -0-> b and b -1-> b: relation 0 leaves a; 1, 2 and 3 leave
// b. The pairs are (0, 0), and (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3).
//
// Processor time to make and verify the table, and peak memory of the process, which holds the graph too, with the local runner:
//
//	                                                            edges of the table
//	FB15k-237, 237 relations, 272,115 facts                                108,240     0.2 s
//	WN18RR, 11 relations, 86,835 facts                                       1,520     0.1 s
//	9,950 relations, 209,950 facts, --memory 400                        13,280,544     4.5 s    183 MiB
//	10,500 relations, 210,500 facts, 5,000 relations leave one entity  112,390,504    18 s      556 MiB
package relations
