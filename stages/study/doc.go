// Package study has the stages that count without training: Search, the distances of sources to every entity, and
// Count, the messages of propagation.
//
// Both read shards of sources; elements hold source ids only. Each worker process loads the graph once; several threads
// search the sources of an element (Sweep of model/study), each up to 512 sources at once. For the sources of the test
// split and 6 hops Search takes on two cores of an EPYC (Zen 4), with the local runner, 0.9 s and 269 MB for FB15k-237
// (10,348 sources, 544,230 edges), and 0.9 s and 508 MB for WN18RR (5,323 sources, 173,670 edges).
//
// Count writes the table messages and summary.json, and how many messages truncation saves. The counts of the window
// need no model; those of A*Net (choose.go) come from propagating with a checkpoint.
package study
