// Package train is the pipeline that bundles the training and validation queries of a graph and
// learns a model from them, epoch by epoch, into the folder checkpoints of the workspace. A
// training that was killed goes on with --resume, to the same bytes.
package train
