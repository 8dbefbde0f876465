// Package probabilities makes what commands need and a graph or a model determines, where the workspace has
// none that is current.
//
// A Fit is the probabilities of a model over the workspace's graph (model/answer/probability): train makes it at its
// end, else the command that first shows a probability. Their files are in the folder probabilities/ of the workspace:
// one for each weights, graph and reach. A run that writes there holds the folder's lock. Where it cannot be written,
// they are fitted into the folder of the answers, for the run alone.
package probabilities
