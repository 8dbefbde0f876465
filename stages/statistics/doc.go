// Package statistics is the stage that describes a dataset and the messages of its queries. It reads
// shards of edges and writes analysis.json and analysis.parquet. It counts degrees itself, and takes the
// counts of distances and messages from the outputs of the stages distances and messages. It needs no model.
package statistics
