// Package statistics is the stage that says what a data set is like and what its messages would
// cost: shards of edges in, analysis.json and analysis.parquet out. It counts the degrees;
// distances and messages it takes from what the stages distance and messages summed. No model
// is needed.
package statistics
