// Package bundle cuts the queries of a split into shards and groups them into bundles, what package model/ranker works on.
//
// All rows of a split's query table with the same source and relation become one ranker.Query, since one
// propagation answers them. Queries are sorted by source, since one search serves all queries of a
// source. A shard is a range of queries of about equal work and of bounded output: the element of a pipeline, and a part
// of each output table. A bundle has a shard's ids, labelled answers and known answers, but no graph; it stays in the
// worker that loads it.
//
// The package reads the graph that preprocess wrote; learn and evaluate use its bundles. Shards and their content depend on
// the queries and the parameters alone, not on the number of workers or their memory.
package bundle
