// Package score is the model stage of evaluation: it cuts the queries of a split into shards, and turns a shard and a checkpoint into
// scores, filtered ranks and the best candidates. A worker process has one opened model of package model/answer, which the shards
// of all its DoFns ask.
//
// The transform is in stages/evaluate, which calls Shard.Score, adds names and writes the results where they are made: they never
// cross a barrier.
package score
