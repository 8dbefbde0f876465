// Package train is the pipeline that trains a model on the training facts of a graph, epoch by epoch,
// and writes its checkpoints. A training that was interrupted or killed continues with --resume, to
// the same bytes.
//
// A run goes through the stages open (flags, graph, memory), plan (what to do with the checkpoints
// that are there), prepare (the folder), train, and publish.
package train
