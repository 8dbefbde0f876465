// Package bundle cuts the queries of a split into shards and groups them into bundles, what package model/ranker works on.
//
// A shard is a range of queries, as package model/workload cuts them: the element of a pipeline, and a part
// of each output table. A bundle has a shard's ids, labeled answers and known answers, but no graph; it stays in the
// worker that loads it.
package bundle
