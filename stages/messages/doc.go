// Package messages is the stage that counts what propagation sends and what truncation saves:
// batches of sources in, messages.parquet and summary.json out. No model is needed for the
// window's counts; those of A*Net (astar.go) come from propagating with a checkpoint.
package messages
