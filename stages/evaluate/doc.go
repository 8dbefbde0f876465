// Package evaluate turns scored bundles into what people and other programs read: ranks and best candidates by
// name, and metrics whole, by direction, by distance and by relation. Its outputs depend on the scores alone, not on
// how the queries were bundled.
//
// Package model/ranking computes ranks and metrics, formats/parquet has the rows: a column of rankings.parquet is a
// field of parquet.Ranking that Names.Rankings fills, one of predictions.parquet a field of parquet.Prediction that
// Names.Predictions fills.
package evaluate
