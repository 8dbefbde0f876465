// Package evaluate turns queries into what people and other programs read: ranks and best candidates by
// name, and metrics whole, by direction, by distance and by relation. Its outputs depend on the scores alone, not on
// which worker scored what.
//
// The worker that scores a shard of queries writes its part of each table, and only the counts of its ranks are sent on to be
// summed up: nothing that grows with the queries crosses a barrier.
//
// Package model/ranking computes ranks and metrics, formats/parquet has the rows: a column of rankings is a
// field of parquet.Ranking that Names.Rankings fills, one of predictions a field of parquet.Prediction that
// Names.Predictions fills.
package evaluate
