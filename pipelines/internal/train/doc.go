// Package train is the pipeline that trains a model on the training facts of a graph, epoch by epoch,
// and writes its checkpoints. With --resume, a training that was interrupted or killed continues and
// ends with the same bytes as an uninterrupted one.
//
// A run has five steps: open reads the graph and divides the memory, decide says what to do with
// existing checkpoints, prepare readies the folder, train runs the Beam pipeline, and publish marks the
// checkpoints complete.
package train
