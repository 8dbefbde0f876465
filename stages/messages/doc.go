// Package messages is the stage that counts the messages of propagation, and how many of them
// truncation saves: shards of sources in, messages.parquet and summary.json out. The counts of the
// window need no model; those of A*Net (choose.go) come from propagating with a checkpoint.
package messages
