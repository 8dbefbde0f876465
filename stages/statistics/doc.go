// Package statistics is the stage that describes a dataset and the messages of its queries: shards of
// edges in, analysis.json and analysis.parquet out. It counts degrees itself, and takes the counts of
// distances and messages from the outputs of the stages distances and messages. It needs no model.
package statistics
