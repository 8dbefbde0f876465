// Package evaluation turns scored queries into what people and other programs read: ranks and best candidates by
// name, and metrics whole, by direction, by distance and by relation. They depend on the scores alone, not on
// which worker scored what.
//
// Package ranking computes ranks and metrics, formats/workspace/parquet and formats/workspace/metrics have the rows and
// the file: a column of rankings is a field of parquet.Ranking that Names.Rankings fills, one of predictions a field of
// parquet.Prediction that Names.Predictions fills.
package evaluation
