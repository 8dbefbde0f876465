// Package predict is the model in a worker: it cuts queries into shards, and turns a shard and a checkpoint into
// scores, filtered ranks and the best candidates. A worker process has one opened model of package model/answer, which
// the shards of all its DoFns ask.
//
// Its transforms are Evaluate (the queries of a split), Answers (a user's queries), Triples (a user's triples, or the
// relations of pairs) and Fit (the probabilities of a model); package discover has those of new facts. Each writes the
// results where they are made: the worker that answers a shard writes its part of each table, names and explanations
// included. Only counts cross a barrier, and what Fit observes.
package predict
