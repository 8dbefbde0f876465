// Package statistics is the stage that summarizes a dataset, without a model. It reads shards of
// edges, counts degrees, adds the sums that the stages distances and messages have written, and
// writes analysis.json and analysis.parquet.
package statistics
