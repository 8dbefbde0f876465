// Package train is the command that trains a model on the training facts of a graph, epoch by epoch,
// and writes its checkpoints. With --resume, a training that was interrupted or killed continues and
// ends with the same bytes as an uninterrupted one.
//
// A command has four steps, each a type: flags are what the user gave, a decision says what to do with
// existing checkpoints, a plan completes the settings and divides the memory, and a training readies the
// folder, runs the Beam pipeline and marks the checkpoints complete.
package train
