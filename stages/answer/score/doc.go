// Package score is the model in a worker: it cuts queries into shards, and turns a shard and a checkpoint into scores, filtered ranks and the best
// candidates. A worker process has one opened model of package model/answer, which the shards of all its DoFns ask.
//
// The transforms are in the packages beside it: evaluate (a split), ask (a user's queries and triples), discover (new facts) and probability. Each
// writes the results where they are made: they never cross a barrier.
package score
