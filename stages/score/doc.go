// Package score is the model stage of evaluation: it turns bundles of queries and a checkpoint into
// scores, filtered ranks and the best candidates. One propagation answers all rows of a
// (source, relation, ?), and the threads of a worker share the queries of a bundle, or a device
// answers them in groups. Training validates its epochs with the same Ranker.
//
// Results are ids in the order of the bundle. The transform is in stages/evaluate, which calls Rank, adds names and writes
// the results where they are made: they never cross a barrier.
package score
