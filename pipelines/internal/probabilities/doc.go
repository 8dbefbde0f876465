// Package probabilities fits the probabilities of a model over a workspace's graph (model/answer/probability) where no run has: train does at
// its end, else the command that first shows a probability. Their files are in the folder probabilities/ of the workspace: one for each weights,
// graph and reach. A run that writes there holds the folder's lock. Where it cannot be written, they are
// fitted into the folder of the answers, for the run alone.
package probabilities
